// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "query/query_scan.h"

namespace tfilefs {

// Entries of a block, with a bit for each that passes, the first one in the lowest bit.
struct PassingEntries {
  tfile::EntryRange block;
  std::vector<std::uint64_t> bits;
};

// An entry of many iterations comes several times.
inline void add_block(std::vector<PassingEntries>& passing, PassingEntries added) {
  if (passing.empty() || passing.back().block.begin != added.block.begin) return passing.push_back(std::move(added));
  for (std::size_t i = 0; i < added.bits.size(); ++i) passing.back().bits[i] |= added.bits[i];
}

// Finds the entries of which any iteration of the only expression is not 0, as TTree::CopyTree keeps them. `take` gets
// them block by block, in order. Blocks. Errors: those of evaluate_unit() and of take().
template <class Take>
Result<> scan_passing(const QuerySource& source, const Query& query, const ScanOptions& options, ScanThreads& threads,
                      Take take) {
  using Unit = std::vector<PassingEntries>;
  const auto prepare = [&](tfile::EntryRange range) {
    return [&source, &query, &options, range]() -> Result<Unit> {
      Unit passing;
      TRY_VOID(evaluate_unit(source, query, range, options.stop,
                             [&](const QueryBlock& block, tfile::EntryRange entries) -> Result<> {
                               add_block(passing, {entries, block.passing(0)});
                               return {};
                             }));
      return passing;
    };
  };
  ScanOptions with_iterations = options;
  with_iterations.entries.end = std::min(options.entries.end, query.end());
  return scan_units(source.table, with_iterations, threads, prepare, [&](const Unit& passing) -> Result<> {
    for (const PassingEntries& each : passing) TRY_VOID(take(each));
    return {};
  });
}

}  // namespace tfilefs
