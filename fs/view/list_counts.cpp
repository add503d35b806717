// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <span>
#include <utility>

#include "exec/answering.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "view/column_lengths.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ColumnId;
using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;

constexpr int kListDepthMax = 64;  // deeper than any node tree that the library builds

class Counters {
 public:
  explicit Counters(const tfile::Table& table) : table_(table), found_(table.columns.size()) {}

  std::vector<std::optional<ColumnId>> find() {
    if (!table_.nodes.empty()) visit(0, std::nullopt, 0);
    return std::move(found_);
  }

 private:
  using List = std::optional<ColumnId>;  // by its offsets

  void visit(NodeId id, List list, int depth) {
    const Node& node = table_.nodes[id];
    if (depth > kListDepthMax) return;
    if (node.column) {
      if (list && lists_of(*node.column).back() == *list) found_[*node.column] = list;
      return;
    }
    switch (node.kind) {
      case NodeKind::number:
      case NodeKind::record:
        visit_all(node.children, list, depth);
        break;
      case NodeKind::variant:
        visit_all(std::span(node.children).first(2), list, depth);  // tags and index
        visit_all(std::span(node.children).subspan(2), std::nullopt, depth);
        break;
      case NodeKind::string:
      case NodeKind::raw:
      case NodeKind::list:
      case NodeKind::map:
      case NodeKind::optional: {
        const ColumnId own = *table_.nodes[node.children[0]].column;
        const auto& lists = lists_of(own);
        if (list && lists.size() > 1 && lists[lists.size() - 2] == *list) found_[own] = list;
        visit_all(std::span(node.children).subspan(1), own, depth);
        break;
      }
    }
  }

  void visit_all(std::span<const NodeId> nodes, List list, int depth) {
    for (const NodeId node : nodes) visit(node, list, depth + 1);
  }

  const std::vector<ColumnId>& lists_of(ColumnId id) const {
    static const std::vector<ColumnId> kNone = {~ColumnId{0}};
    return table_.columns[id].lists.empty() ? kNone : table_.columns[id].lists;
  }

  const tfile::Table& table_;
  std::vector<List> found_;
};

// The places of the columns, and how long they are.
struct Lengths {
  const std::shared_ptr<CachedStreams> streams;
  const std::shared_ptr<const tfile::Table> table;
  const ColumnLengths of;
};
using LengthsPtr = std::shared_ptr<const Lengths>;

// By column. Several are noted at the same time, so each has a byte of its own.
using Noted = std::vector<char>;

struct CountedColumns {
  ColumnId list = 0;  // by its offsets
  std::vector<ColumnId> columns;
};

std::vector<CountedColumns> comparable(const Lengths& lengths) {
  std::map<ColumnId, std::vector<ColumnId>> counted;
  const auto& columns = lengths.table->columns;
  const auto counters = counted_by(*lengths.table);
  for (ColumnId id = 0; id < counters.size(); ++id) {
    if (!counters[id] || !lengths.of[id] || !lengths.of[*counters[id]]) continue;
    if (columns[*counters[id]].stream != columns[id].stream) counted[*counters[id]].push_back(id);
  }
  std::vector<CountedColumns> lists;
  for (auto& [list, ids] : counted) lists.push_back({list, std::move(ids)});
  return lists;
}

void read_last(const Lengths& lengths, ColumnId id, Reply<Slices> reply) {
  const Column& column = lengths.table->columns[id];
  const std::size_t size = column.item_size();
  lengths.streams->read(column.stream, column.slot, size, static_cast<std::uint64_t>(*lengths.of[id] - 1) * size, size,
                        std::move(reply));
}

// Notes the columns that do not have as many items as their lists. Of one that has some the last is read: damage
// explains it, too.
void compare(const LengthsPtr& lengths, const std::vector<ColumnId>& columns, std::int64_t items, Noted& noted,
             Reply<void> reply) {
  std::vector<ColumnId> others;
  for (const ColumnId id : columns) {
    const std::int64_t more = lengths->table->columns[id].role == Role::offsets ? 1 : 0;
    const std::int64_t length = *lengths->of[id];
    if (length == items + more || (length == 0 && items == 0)) continue;
    if (length == 0)
      noted[id] = 1;
    else
      others.push_back(id);
  }
  const std::size_t count = others.size();
  auto look = [lengths, others = std::move(others), &noted](std::size_t i, Reply<void> answer) {
    auto note = [&of = noted[others[i]]](const Result<Slices>& last, Reply<void> done) {
      if (last) of = 1;
      done({});
    };
    read_last(*lengths, others[i], on_behalf_of<Slices>(std::move(answer), std::move(note)));
  };
  when_all(count, count, std::move(look), std::move(reply));
}

void compare_list(const LengthsPtr& lengths, const CountedColumns& list, Noted& noted, Reply<void> reply) {
  if (*lengths->of[list.list] == 0) return compare(lengths, list.columns, 0, noted, std::move(reply));
  auto with_last = [lengths, &list, &noted](Result<Slices> slices, Reply<void> done) {
    std::int64_t last = 0;
    if (!slices || slices->size() != sizeof last) return done({});
    copy_slices(*std::exchange(slices, Slices()), reinterpret_cast<std::byte*>(&last));
    compare(lengths, list.columns, last, noted, std::move(done));
  };
  read_last(*lengths, list.list, on_behalf_of<Slices>(std::move(reply), std::move(with_last)));
}

}  // namespace

std::vector<std::optional<tfile::ColumnId>> counted_by(const tfile::Table& table) { return Counters(table).find(); }

void contradicted_columns(const std::shared_ptr<CachedStreams>& streams,
                          const std::shared_ptr<const tfile::Table>& table, const ColumnLengths& lengths,
                          Reply<Contradicted> reply) {
  const LengthsPtr of = std::make_shared<const Lengths>(Lengths{streams, table, lengths});
  std::vector<CountedColumns> lists = comparable(*of);
  const std::size_t count = lists.size();
  auto look = [of, lists = std::move(lists)](std::size_t i, Noted& noted, Reply<void> done) {
    compare_list(of, lists[i], noted, std::move(done));
  };
  auto answer = [streams](Noted noted, Reply<Contradicted> done) {
    auto made = [noted = std::move(noted)]() -> Result<Contradicted> {
      return Contradicted(noted.begin(), noted.end());
    };
    streams->run_view_job(answering(std::move(made), std::move(done)));
  };
  when_all(count, count, Noted(table->columns.size()), std::move(look),
           value_for<Noted>(std::move(reply), std::move(answer)));
}

void sound_lengths(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                   Reply<SoundLengths> reply) {
  auto ask = [streams, table](ColumnLengths lengths, Reply<SoundLengths> done) {
    auto tell = [lengths](Contradicted found) { return SoundLengths{lengths, std::move(found)}; };
    contradicted_columns(streams, table, lengths, answer_with<Contradicted>(std::move(done), std::move(tell)));
  };
  column_lengths(streams, table, true, value_for<ColumnLengths>(std::move(reply), std::move(ask)));
}

}  // namespace tfilefs
