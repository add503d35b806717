// SPDX-License-Identifier: Apache-2.0
#include "view/friends/friend_table.h"

#include <algorithm>
#include <utility>

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Table;

constexpr int kDepthMax = 64;  // deeper than any node tree that the library builds

// Takes what is not shown out of the records at and below a node: values of one of several classes. Whether the node
// itself is shown.
bool keep_shown(std::vector<Node>& nodes, NodeId id, int depth = 0) {
  if (nodes[id].kind == NodeKind::variant || depth > kDepthMax) return false;
  std::vector<NodeId>& children = nodes[id].children;
  const auto is_shown = [&](NodeId child) { return keep_shown(nodes, child, depth + 1); };
  if (nodes[id].kind != NodeKind::record) return std::ranges::all_of(children, is_shown);
  const bool had_any = !children.empty();
  std::erase_if(children, [&](NodeId child) { return !is_shown(child); });
  return !had_any || !children.empty();
}

// The friend's schema without what is not shown of it.
TableSchemaPtr shown_schema(const std::shared_ptr<const Table>& own) {
  std::vector<Node> nodes = own->nodes;
  std::erase_if(nodes[0].children, [&](NodeId child) { return !keep_shown(nodes, child); });
  SharedList columns(std::shared_ptr<const std::vector<Column>>(own, &own->columns));
  return std::make_shared<TableSchema>(TableSchema{own->kind, std::move(nodes), std::move(columns), {}});
}

// That of a table without any node: beside it, every node of another one is missing in some.
TableSchemaPtr empty_schema() { return std::make_shared<TableSchema>(TableSchema{"", std::vector<Node>(1), {}, {}}); }

}  // namespace

FriendTable::FriendTable(const Table& of) {
  kind = "friend";
  entries = of.entries;
  clusters = of.clusters;
}

FriendTable::FriendTable(std::shared_ptr<const Table> own, const Table& of, FriendRows rows) : FriendTable(of) {
  own_ = std::move(own);
  has_own_streams_ = rows == FriendRows::same;
  name = own_->name;
  title = own_->title;
  lay_out(rows);
}

void FriendTable::lay_out(FriendRows rows) {
  if (rows == FriendRows::same) {
    nodes = own_->nodes;
    columns = own_->columns;
    return;
  }
  std::vector<TableSchemaPtr> schemas{shown_schema(own_)};
  if (rows == FriendRows::any) schemas.push_back(empty_schema());
  auto schema = chain_schema(schemas, ChainPolicy::all);
  if (!schema) {
    reason = schema.error().text;
    nodes.emplace_back();
    return;
  }
  find_counted(*schema, rows);
  for (const Difference& each : schema->differences) {
    if (each.is_left_out) left_out_.emplace_back(each.node, each.found.front());
  }
  nodes = std::move(schema->nodes);
  columns = std::move(schema->columns);
  chained_ = std::move(schema->chained);
  find_short();
}

void FriendTable::find_counted(const ChainSchema& schema, FriendRows rows) {
  for (CountId id = 0; id < schema.counts.size(); ++id) {
    const CountSource& source = schema.counts[id][0];
    Counted counted;
    if (source.of == CountSource::Of::items) {
      counted.lists = own_->columns[source.column.id].lists;  // of an offsets column with itself
      if (source.is_ends) counted.lists.pop_back();
    }
    const ShortColumn* const outermost = counted.lists.empty() ? nullptr : short_column(counted.lists[0]);
    if (outermost) counted.own_end = outermost->entries;
    const bool is_all = id == 0 && rows == FriendRows::any;
    counted.of = !counted.lists.empty() ? Counted::Of::items : is_all ? Counted::Of::entries : Counted::Of::matched;
    counted_.push_back(std::move(counted));
  }
}

const FriendTable::ShortColumn* FriendTable::short_column(tfile::ColumnId own) const {
  const auto found = std::ranges::lower_bound(short_columns_, own, {}, &ShortColumn::column);
  return found != short_columns_.end() && found->column == own ? &*found : nullptr;
}

// Each of them has a count of its own.
void FriendTable::find_short() {
  for (ChainColumn& shown : chained_) {
    if (counted_[shown.count].of != Counted::Of::matched) continue;
    const ShortColumn* const found = short_column(shown.sources[0].column.id);
    if (!found) continue;
    shown.count = static_cast<CountId>(counted_.size());
    counted_.push_back({Counted::Of::some_matched, found->chosen, found->entries, {}});
  }
}

std::shared_ptr<const FriendTable> FriendTable::of_chosen(std::shared_ptr<const Table> own, std::int64_t entries,
                                                          std::vector<std::int64_t> clusters,
                                                          std::vector<ShortColumn> short_columns) {
  const std::shared_ptr<FriendTable> made(new FriendTable(std::move(own)));
  made->kind = made->own_->kind;
  made->name = made->own_->name;
  made->title = made->own_->title;
  made->siblings = made->own_->siblings;
  made->aliases = made->own_->aliases;
  made->entries = entries;
  made->clusters = std::move(clusters);
  made->short_columns_ = std::move(short_columns);
  made->lay_out(FriendRows::some);
  return made;
}

std::shared_ptr<const FriendTable> FriendTable::of_matches(const Table& of) {
  const std::shared_ptr<FriendTable> made(new FriendTable(of));
  tfile::Column column;
  column.path = column.name = ".match.i8";
  column.dtype = tfile::Dtype::i8;
  made->columns.push_back(column);
  made->nodes.resize(2);
  made->nodes[0].children.push_back(1);
  made->nodes[1].kind = NodeKind::number;
  made->nodes[1].name = column.name;
  made->nodes[1].column = 0;
  made->chained_.push_back({0, {}, {ItemSource{ItemSource::Kind::entry_number, {}, {}, 0}}});
  made->counted_.push_back({});
  return made;
}

std::size_t FriendTable::stream_count() const { return has_own_streams_ ? own_->stream_count() : columns.size(); }

tfile::StreamShape FriendTable::shape(tfile::StreamId stream) const {
  if (has_own_streams_) return own_->shape(stream);
  tfile::StreamShape shape;
  shape.chunks = 1;
  shape.slots = 1;
  const bool is_read = own_ && source(stream).kind != ItemSource::Kind::steps;
  if (is_read) shape.stored_bytes = own_->shape(own_->columns[source(stream).column.id].stream).stored_bytes;
  return shape;
}

tfile::EntryRange FriendTable::chunk_entries(tfile::ChunkKey key) const {
  return has_own_streams_ ? own_->chunk_entries(key) : tfile::EntryRange{0, entries};
}

std::vector<std::int64_t> FriendTable::lengths(tfile::StreamId stream) const {
  if (has_own_streams_) return own_->lengths(stream);
  const Counted& counted = counted_[chained_[stream].count];
  if (counted.of != Counted::Of::some_matched) return {-1};
  return {counted.matched + (columns[stream].role == tfile::Role::offsets ? 1 : 0)};
}

}  // namespace tfilefs
