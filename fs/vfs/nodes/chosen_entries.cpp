// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/chosen_entries.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "exec/answering.h"
#include "query/passing_entries.h"

namespace tfilefs {
namespace {

// The first entry of each cluster, without those of clusters that became small.
std::vector<std::int64_t> chosen_clusters(const tfile::Table& of, const KeptBits& kept) {
  std::vector<std::int64_t> chosen;
  if (of.clusters.size() < 2 || kept.entries() == 0) return chosen;
  const std::int64_t usual = of.entries / static_cast<std::int64_t>(of.clusters.size() - 1);
  for (const std::int64_t first : kept.kept_before(of.clusters)) {
    if (chosen.empty() || first - chosen.back() >= std::max<std::int64_t>(1, usual)) chosen.push_back(first);
  }
  if (chosen.back() != kept.entries()) chosen.push_back(kept.entries());
  return chosen;
}

// Those that have fewer entries than the table, and an item or a list for each of their entries.
std::vector<FriendTable::ShortColumn> short_columns(const tfile::Table& of, const KeptBits& kept) {
  std::vector<FriendTable::ShortColumn> found;
  std::map<std::int64_t, std::int64_t> chosen;  // by entries, for counting them goes through the bits
  for (tfile::ColumnId id = 0; id < of.columns.size(); ++id) {
    const tfile::Column& column = of.columns[id];
    if (column.lists.size() > (column.role == tfile::Role::offsets ? 1 : 0)) continue;
    const std::int64_t entries = entries_of_column(of, id);
    if (entries >= of.entries) continue;
    const auto [known, is_new] = chosen.try_emplace(entries);
    if (is_new) known->second = kept.kept_before(std::vector{entries})[0];
    found.push_back({id, entries, known->second});
  }
  return found;
}

class EntryChoice {
 public:
  EntryChoice(ClusterCache& cache, ChoiceOf of, ChoiceBy by, std::stop_token stop)
      : cache_(cache), of_(std::move(of)), by_(std::move(by)), stop_(std::move(stop)) {}

  Result<TableWhere> operator()() const {
    const std::int64_t entries = std::max<std::int64_t>(0, of_.table->entries);
    const std::uint64_t most = cache_.budget()->size() / 2;
    if (KeptBits::memory_of(entries) > most)
      return tl::unexpected<Error>(refusal(KeptBits::memory_of(entries), "half of memory=", most));
    auto kept = std::make_shared<KeptBits>(entries, cache_.budget()->take(KeptBits::memory_of(entries)));
    ScanThreads threads;
    TRY_VOID(scan_passing({*by_.table, *by_.streams, true, kSharedUnitBytesMax, BlockMemory::of(cache_.budget())},
                          by_.cut, {{0, entries}, stop_}, threads, [&](const PassingEntries& passing) -> Result<> {
                            kept->keep(passing.block, passing.bits);
                            return {};
                          }));
    kept->finish();
    return entries_kept(cache_, of_, std::move(kept));
  }

 private:
  ClusterCache& cache_;
  ChoiceOf of_;
  ChoiceBy by_;
  std::stop_token stop_;
};

}  // namespace

TableWhere entries_kept(ClusterCache& cache, const ChoiceOf& of, std::shared_ptr<const KeptBits> kept) {
  auto table = FriendTable::of_chosen(of.table, kept->entries(), chosen_clusters(*of.table, *kept),
                                      short_columns(*of.table, *kept));
  auto streams = std::make_shared<FriendStreams>(cache, table, kept, of.streams);
  return {std::move(table), std::move(streams), std::move(kept)};
}

void choose_entries(ClusterCache& cache, ChoiceOf of, ChoiceBy by, Reply<TableWhere> reply) {
  const void* const queue = of.table.get();
  EntryChoice choice(cache, std::move(of), std::move(by), reply.stop_token());
  cache.exec().serial_queues.run_in_one_of(queue, kScansAtOnce, answering(std::move(choice), std::move(reply)));
}

}  // namespace tfilefs
