// SPDX-License-Identifier: Apache-2.0
#include "cache/count_registry.h"

#include <algorithm>

namespace tfilefs {

std::shared_ptr<SetCounts> CountRegistry::open(const TableLabel& label,
                                               const std::shared_ptr<const tfile::StreamSet>& set) {
  if (label.path.empty()) return objects_;
  auto counts = std::make_shared<SetCounts>(by_stream_);
  counts->set_memory = set->memory();
  const Lock lock(mutex_);
  if (tables_.size() >= kTablesMax && !tables_.contains(label.path)) forget_one();
  const auto [place, is_new] = tables_.try_emplace(label.path);
  Table& table = place->second;
  if (is_new && distinct_ < kTablesMax) {
    table.is_distinct = true;
    ++distinct_;
  }
  table.open.push_back({label.generation, counts, set});
  table.generation = std::max(table.generation, label.generation);
  table.last_use = ++clock_;
  return counts;
}

void CountRegistry::close(const TableLabel& label, const SetCounts* counts) {
  const Lock lock(mutex_);
  const auto found = tables_.find(label.path);
  if (found == tables_.end()) return;
  Table& table = found->second;
  const auto gone =
      std::find_if(table.open.begin(), table.open.end(), [&](const Open& open) { return open.counts.get() == counts; });
  if (gone == table.open.end()) return;
  table.past += counts->total();
  table.last_use = ++clock_;
  table.open.erase(gone);
}

// Only a path with nothing loaded is forgotten. Those with loaded tables stay, however many there are.
void CountRegistry::forget_one() {
  auto oldest = tables_.end();
  for (auto at = tables_.begin(); at != tables_.end(); ++at)
    if (at->second.open.empty() && (oldest == tables_.end() || at->second.last_use < oldest->second.last_use))
      oldest = at;
  if (oldest == tables_.end()) return;
  forgotten_ += oldest->second.past;
  ++tables_forgotten_;
  if (oldest->second.is_distinct) --distinct_;
  tables_.erase(oldest);
}

TableReport CountRegistry::report_of(const std::string& path, const Table& table, bool with_streams,
                                     Report::Memory& memory) {
  TableReport report{{path, table.generation}, table.past, nullptr, {}, table.is_distinct};
  for (const Open& open : table.open) {
    report.counts += open.counts->total();
    memory.add(*open.counts);
    if (open.generation != table.generation) continue;
    report.set = open.set.lock();
    report.streams.clear();
    if (with_streams)
      open.counts->each_stream([&](tfile::StreamId stream, const ReadCounts& counts) {
        if (counts.any()) report.streams.emplace_back(stream, counts);
      });
  }
  return report;
}

CountRegistry::Report CountRegistry::report(bool with_streams) const {
  Report report;
  std::map<std::string, Table, std::less<>> tables;  // summed up without the lock
  {
    const Lock lock(mutex_);
    tables = tables_;
    report.forgotten = forgotten_;
    report.tables_forgotten = tables_forgotten_;
  }
  report.objects = objects_->total();
  report.memory.add(*objects_);
  for (const auto& [path, table] : tables) report.tables.push_back(report_of(path, table, with_streams, report.memory));
  return report;
}

void CountRegistry::Report::Memory::add(const SetCounts& of) {
  sets += of.set_memory;
  extents += of.extents_memory;
  counts += of.memory();
}

ReadCounts CountRegistry::Report::total() const {
  ReadCounts sum = objects;
  sum += forgotten;
  for (const TableReport& table : tables) sum += table.counts;
  return sum;
}

}  // namespace tfilefs
