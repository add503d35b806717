// SPDX-License-Identifier: Apache-2.0
#include "view/node_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::ColumnId;
using tfile::NodeId;
using tfile::StreamId;
using tfile::Table;

class NodeTable final : public Table {
 public:
  NodeTable(std::shared_ptr<const Table> whole, NodeId node) : whole_(std::move(whole)) {
    name = whole_->name;
    title = whole_->title;
    kind = whole_->kind;
    entries = whole_->entries;
    clusters = whole_->clusters;
    siblings = whole_->siblings;
    nodes.push_back(whole_->nodes[0]);
    nodes[0].children = {add_node(node)};
    for (tfile::Column& column : columns) renumber(column);
  }

  std::size_t stream_count() const override { return whole_->stream_count(); }
  tfile::StreamShape shape(StreamId id) const override { return whole_->shape(id); }
  std::vector<tfile::Sibling> siblings_of(StreamId id) const override { return whole_->siblings_of(id); }
  tfile::EntryRange chunk_entries(ChunkKey key) const override { return whole_->chunk_entries(key); }
  tfile::Result<tfile::Locator> locate(ChunkKey key) const override { return whole_->locate(key); }
  std::uint64_t decoded_size(ChunkKey key) const override { return whole_->decoded_size(key); }
  std::vector<ChunkKey> inputs(ChunkKey key) const override { return whole_->inputs(key); }
  std::vector<std::int64_t> lengths(StreamId id) const override { return whole_->lengths(id); }
  tfile::Result<tfile::Extents> extents(StreamId id) const override { return whole_->extents(id); }
  const tfile::ItemCounter* counter() const override { return whole_->counter(); }
  tfile::Result<tfile::Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                                     std::span<const std::shared_ptr<const tfile::Chunk>> inputs,
                                     std::span<const std::int64_t> first) const override {
    return whole_->decode(key, stored, inputs, first);
  }

 private:
  // The node, and what is below it; returns its number here.
  NodeId add_node(NodeId id) {
    const auto added = static_cast<NodeId>(nodes.size());
    nodes.push_back(whole_->nodes[id]);
    if (const auto column = whole_->nodes[id].column) {
      numbers_[*column] = static_cast<ColumnId>(columns.size());
      nodes[added].column = static_cast<ColumnId>(columns.size());
      columns.push_back(whole_->columns[*column]);
    }
    for (NodeId& child : nodes[added].children) child = 0;
    for (std::size_t i = 0; i < whole_->nodes[id].children.size(); ++i) {
      const NodeId child = add_node(whole_->nodes[id].children[i]);
      nodes[added].children[i] = child;
    }
    return added;
  }

  // The lists around a column are below the same top node; the counter of a list may be below another one.
  void renumber(tfile::Column& column) const {
    std::vector<ColumnId> lists;
    for (const ColumnId list : column.lists)
      if (const auto found = numbers_.find(list); found != numbers_.end()) lists.push_back(found->second);
    column.lists = std::move(lists);
    if (!column.counter) return;
    const auto counter = numbers_.find(*column.counter);
    column.counter = counter == numbers_.end() ? std::nullopt : std::optional(counter->second);
  }

  const std::shared_ptr<const Table> whole_;
  std::map<ColumnId, ColumnId> numbers_;  // of the columns taken: there, here
};

}  // namespace

std::shared_ptr<const Table> table_of_node(std::shared_ptr<const Table> table, NodeId node) {
  return std::make_shared<const NodeTable>(std::move(table), node);
}

bool is_top_node(const Table& table, NodeId node) { return std::ranges::count(table.nodes[0].children, node) > 0; }

}  // namespace tfilefs
