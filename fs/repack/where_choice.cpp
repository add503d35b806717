// SPDX-License-Identifier: Apache-2.0
#include "repack/where_choice.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "query/passing_entries.h"

namespace tfilefs {

using tfile::EntryRange;
using tfile::KeptEntries;

namespace {

// Adds the entries of a block whose bits are set, in runs.
void add_passing(const std::vector<std::uint64_t>& bits, EntryRange block, KeptEntries& to) {
  constexpr int kBits = 64;
  std::int64_t at = block.begin;
  for (std::uint64_t word : bits) {
    for (int bit = 0; word != 0;) {
      const int zeros = std::countr_zero(word);
      word >>= zeros;
      const int ones = std::countr_one(word);
      bit += zeros;
      to.add({at + bit, at + bit + ones});
      bit += ones;
      word = ones == kBits ? 0 : word >> ones;
    }
    at += kBits;
  }
}

}  // namespace

QueryScope scope_of(const ChainSource& source, NamedExpressions definitions, bool is_one_file) {
  return {TableNames(source.named_table(), source.friends_beside()), std::move(definitions), is_one_file};
}

Result<KeptEntries> entries_where(ChainSource& source, const QueryScope& scope, const std::string& expression,
                                  ScanThreads& threads, const std::stop_token& stop) {
  TRY(const Query query, Query::bind_cut(expression, scope));
  KeptEntries kept;
  TRY_VOID(scan_passing(
      {source.named_table(), source.named_streams(), false, threads.unit_bytes(), {threads.unit_bytes()}}, query,
      {{0, source.named_table().entries}, stop}, threads, [&](const PassingEntries& passing) -> Result<> {
        add_passing(passing.bits, passing.block, kept);
        return {};
      }));
  return kept;
}

}  // namespace tfilefs
