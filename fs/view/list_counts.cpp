// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "mutex.h"
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

// Reads the last offset of each list; then, of columns that contradict it, the last item, since damage explains it too.
class Asking : public std::enable_shared_from_this<Asking> {
 public:
  Asking(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, ColumnLengths lengths,
         Reply<Contradicted> reply)
      : streams_(std::move(streams)),
        table_(std::move(table)),
        lengths_(std::move(lengths)),
        reply_(std::move(reply)),
        contradicted_(table_->columns.size(), false) {}

  void start() {
    const auto counters = counted_by(*table_);
    for (ColumnId id = 0; id < counters.size(); ++id) {
      if (!counters[id] || !lengths_[id] || !lengths_[*counters[id]]) continue;
      if (table_->columns[*counters[id]].stream != table_->columns[id].stream) counted_[*counters[id]].push_back(id);
    }
    left_ = counted_.size() + 1;
    for (const auto& [list, columns] : counted_) ask_list(list, columns);
    one_is_told();
  }

 private:
  void ask_list(ColumnId list, const std::vector<ColumnId>& columns) {
    if (*lengths_[list] == 0) return compare(columns, 0);
    read_item(list, *lengths_[list] - 1, [this, self = shared_from_this(), &columns](Result<Slices> slices) {
      std::int64_t last = 0;
      if (!slices || !take(*slices, last)) return one_is_told();
      compare(columns, last);
    });
  }

  void compare(const std::vector<ColumnId>& columns, std::int64_t items) {
    for (const ColumnId id : columns) {
      const std::int64_t more = table_->columns[id].role == Role::offsets ? 1 : 0;
      const std::int64_t length = *lengths_[id];
      if (length == items + more || (length == 0 && items == 0)) continue;
      if (length == 0) {
        note(id);
        continue;
      }
      ++left_;
      read_item(id, length - 1, [this, self = shared_from_this(), id](const Result<Slices>& slices) {
        if (slices) note(id);
        one_is_told();
      });
    }
    one_is_told();
  }

  template <class Then>
  void read_item(ColumnId id, std::int64_t item, Then then) {
    const Column& column = table_->columns[id];
    const std::size_t size = column.item_size();
    streams_->read(column.stream, column.slot, size, static_cast<std::uint64_t>(item) * size, size, std::move(then));
  }

  static bool take(const Slices& slices, std::int64_t& offset) {
    std::size_t got = 0;
    for (const auto piece : slices.pieces) {
      if (got + piece.size() > sizeof offset) return false;
      std::memcpy(reinterpret_cast<char*>(&offset) + got, piece.data(), piece.size());
      got += piece.size();
    }
    return got == sizeof offset;
  }

  void note(ColumnId id) {
    const Lock lock(mutex_);
    contradicted_[id] = true;
  }

  void one_is_told() {
    if (--left_ > 0) return;
    if (reply_.stop_token().stop_requested()) return reply_(given_up());
    const Lock lock(mutex_);
    answer_ = std::move(contradicted_);
    streams_->run_view_job([self = shared_from_this()] { self->reply_(std::move(self->answer_)); });
  }

  const std::shared_ptr<CachedStreams> streams_;
  const std::shared_ptr<const tfile::Table> table_;
  const ColumnLengths lengths_;
  Reply<Contradicted> reply_;
  std::map<ColumnId, std::vector<ColumnId>> counted_;  // by list
  std::atomic<std::size_t> left_ = 0;
  Contradicted answer_;  // set before it is passed to one thread

  Mutex mutex_{"Asking::mutex_", "ThreadPool::mutex_"};
  Contradicted contradicted_ GUARDED_BY(mutex_);
};

}  // namespace

std::vector<std::optional<tfile::ColumnId>> counted_by(const tfile::Table& table) { return Counters(table).find(); }

void contradicted_columns(const std::shared_ptr<CachedStreams>& streams,
                          const std::shared_ptr<const tfile::Table>& table, const ColumnLengths& lengths,
                          Reply<Contradicted> reply) {
  std::make_shared<Asking>(streams, table, lengths, std::move(reply))->start();
}

void sound_lengths(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                   Reply<SoundLengths> reply) {
  auto shared = std::make_shared<Reply<SoundLengths>>(std::move(reply));
  auto ask = [streams, table, shared](Result<ColumnLengths> lengths) {
    if (!lengths) return (*shared)(tl::unexpected<Error>(lengths.error()));
    auto tell = [shared, lengths = *lengths](Result<Contradicted> found) {
      if (!found) return (*shared)(tl::unexpected<Error>(found.error()));
      (*shared)(SoundLengths{lengths, *std::move(found)});
    };
    contradicted_columns(streams, table, *lengths, Reply<Contradicted>(std::move(tell), shared->stop_token()));
  };
  column_lengths(streams, table, true, Reply<ColumnLengths>(std::move(ask), shared->stop_token()));
}

}  // namespace tfilefs
