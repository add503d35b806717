// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

#include "cache/cluster_cache.h"
#include "exec/ordered_jobs.h"
#include "query/query_block.h"
#include "query/scan_threads.h"
#include "reply.h"
#include "tfile/range.h"
#include "tfile/table.h"

namespace tfilefs {

// The source that a query reads.
struct QuerySource {
  const tfile::Table& table;
  CachedStreams& streams;
  // In a cache that others use as well, what waits for memory must hold none of it: then the bytes are copied.
  bool is_shared = false;
  std::uint64_t unit_bytes = kSharedUnitBytesMax;  // ScanThreads::unit_bytes()
  BlockMemory memory = {};
};

// Parts of these entries that are evaluated by one thread each: whole clusters, or parts of large ones. One after the
// other, for a table may claim any number of entries.
class QueryUnits {
 public:
  QueryUnits(const tfile::Table&, tfile::EntryRange);
  std::optional<tfile::EntryRange> next();
  // How much of the entries was given, from 0 to 1.
  double share() const;

 private:
  const tfile::Table& table_;
  tfile::EntryRange entries_;
  std::int64_t at_, wanted_;
};

// Reads what the query needs of a unit, and evaluates it block by block. `take` gets each block, in order; one of a
// single entry that has many iterations several times, each time with the next of them. Blocks. Errors: those of
// reading, of QueryBlock with the table and the entry, ECANCELED (stopped).
using TakeBlock = std::function<Result<>(const QueryBlock&, tfile::EntryRange)>;
Result<> evaluate_unit(const QuerySource&, const Query&, tfile::EntryRange unit, const std::stop_token&,
                       const TakeBlock& take);

struct ScanOptions {
  tfile::EntryRange entries;
  std::stop_token stop = {};
  std::function<void(double)> progress = {};  // how much is done, from 0 to 1
};

// Goes through the units by many threads. `prepare`, called in their order by the thread that calls this, gives the job
// of one, () -> Result<T>, and `take` gets the results, in order as well. Blocks.
template <class Prepare, class Take>
Result<> scan_units(const tfile::Table& table, const ScanOptions& options, ScanThreads& threads, Prepare prepare,
                    Take take) {
  using Unit = typename decltype(prepare(tfile::EntryRange())())::value_type;
  OrderedJobs<Unit> going([&](Result<Unit> made) -> Result<> {
    TRY(Unit unit, std::move(made));
    return take(std::move(unit));
  });
  QueryUnits units(table, options.entries);
  for (;;) {
    if (options.stop.stop_requested()) return cancelled();
    const auto unit = units.next();
    if (!unit) break;
    going.start(threads.workers(), Urgency::awaited, prepare(*unit));
    TRY_VOID(going.take_down_to(threads.units_at_once() - 1));
    if (options.progress) options.progress(units.share());
  }
  return going.take_down_to(0);
}

}  // namespace tfilefs
