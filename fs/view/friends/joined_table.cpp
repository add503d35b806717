// SPDX-License-Identifier: Apache-2.0
#include "view/friends/joined_table.h"

#include <algorithm>
#include <set>

#include "tfile/name.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::Node;
using tfile::NodeId;
using tfile::StreamId;

namespace {

// Without the type of a column.
std::string plain_name(const Node& node) {
  if (!node.children.empty()) return node.name;
  const auto typed = tfile::parse_typed_name(node.name);
  return typed ? typed->stem : node.name;
}

std::string prefix_of(const JoinedTable::Part& part) {
  return part.alias.empty() ? "" : part.alias + (part.is_record ? "." : "_");
}

}  // namespace

JoinedTable::JoinedTable(std::vector<Part> parts) : parts_(std::move(parts)), first_streams_{0} {
  const tfile::Table& first = *own().table;
  name = first.name;
  title = first.title;
  kind = first.kind;
  entries = first.entries;
  clusters = first.clusters;
  siblings = first.siblings;
  friends = first.friends;
  aliases = first.aliases;
  nodes = {first.nodes[0]};
  nodes[0].children.clear();
  for (const Part& part : parts_) {
    const auto first_column = static_cast<ColumnId>(columns.size());
    add_columns(part, first_streams_.back());
    add_nodes(part, first_column);
    first_streams_.push_back(first_streams_.back() + static_cast<StreamId>(part.table->stream_count()));
  }
}

void JoinedTable::add_columns(const Part& part, StreamId first_stream) {
  const auto first = static_cast<ColumnId>(columns.size());
  const std::string prefix = prefix_of(part);
  for (Column column : part.table->columns) {
    if (column.path == column.name) column.name.insert(0, prefix);
    column.path.insert(0, prefix);
    column.branch.insert(0, prefix);
    for (ColumnId& list : column.lists) list += first;
    if (column.counter) *column.counter += first;
    column.stream += first_stream;
    columns.push_back(std::move(column));
  }
}

NodeId JoinedTable::add_record(const Part& part) {
  const auto record = static_cast<NodeId>(nodes.size());
  Node& made = nodes.emplace_back();
  made.name = tfile::escape_name(part.alias);
  made.original_name = part.alias;
  nodes[0].children.push_back(record);
  return record;
}

void JoinedTable::add_nodes(const Part& part, ColumnId first_column) {
  records_.push_back(part.is_record ? add_record(part) : 0);
  // Node 0 of each part is the directory that they share.
  const auto shift = static_cast<NodeId>(nodes.size() - 1);
  const std::string prefix = prefix_of(part);
  if (part.replaces) {
    std::set<std::string> named;
    for (const NodeId id : part.table->nodes[0].children) named.insert(plain_name(part.table->nodes[id]));
    std::erase_if(nodes[0].children, [&](NodeId there) { return named.contains(plain_name(nodes[there])); });
  }
  std::set<std::string> taken;
  for (const NodeId there : nodes[0].children) taken.insert(plain_name(nodes[there]));
  for (NodeId id = 1; id < part.table->nodes.size(); ++id) {
    Node node = part.table->nodes[id];
    for (NodeId& child : node.children) child += shift;
    if (node.column) *node.column += first_column;
    if (part.is_record && !node.branch_name.empty()) node.branch_name.insert(0, prefix);
    nodes.push_back(std::move(node));
  }
  if (part.is_record) {
    for (const NodeId id : part.table->nodes[0].children) nodes[records_.back()].children.push_back(id + shift);
    return;
  }
  for (const NodeId id : part.table->nodes[0].children) {
    Node& node = nodes[id + shift];
    node.name.insert(0, prefix);
    if (!node.original_name.empty()) node.original_name.insert(0, prefix);
    if (!node.branch_name.empty()) node.branch_name.insert(0, prefix);
    if (taken.contains(plain_name(node)))
      left_out_.push_back(plain_name(node) + ": the table already has a column of that name");
    else
      nodes[0].children.push_back(id + shift);
  }
}

std::pair<const JoinedTable::Part*, StreamId> JoinedTable::place(StreamId stream) const {
  const auto behind = std::ranges::upper_bound(first_streams_, stream) - first_streams_.begin();
  const auto part = std::min(static_cast<std::size_t>(behind), parts_.size()) - 1;
  return {&parts_[part], stream - first_streams_[part]};
}

tfile::StreamShape JoinedTable::shape(StreamId stream) const {
  const auto [part, own_stream] = place(stream);
  return part->table->shape(own_stream);
}

tfile::EntryRange JoinedTable::chunk_entries(tfile::ChunkKey key) const {
  const auto [part, own_stream] = place(key.stream);
  return part->table->chunk_entries({own_stream, key.index});
}

std::vector<std::int64_t> JoinedTable::lengths(StreamId stream) const {
  const auto [part, own_stream] = place(stream);
  return part->table->lengths(own_stream);
}

namespace {

class JoinedStreams final : public CachedStreams {
 public:
  explicit JoinedStreams(std::shared_ptr<const JoinedTable> table) : table_(std::move(table)) {}

  using CachedStreams::read;
  const tfile::StreamSet& streams() const override { return *table_; }
  void note_open(StreamId stream) override {
    const auto [part, own] = table_->place(stream);
    part->streams->note_open(own);
  }
  void note_close(StreamId stream) override {
    const auto [part, own] = table_->place(stream);
    part->streams->note_close(own);
  }
  void length(StreamId stream, std::uint32_t slot, Reply<std::int64_t> reply) override {
    const auto [part, own] = table_->place(stream);
    part->streams->length(own, slot, std::move(reply));
  }
  void cheap_length(StreamId stream, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) override {
    const auto [part, own] = table_->place(stream);
    part->streams->cheap_length(own, slot, std::move(reply));
  }
  std::optional<std::int64_t> known_length(StreamId stream, std::uint32_t slot) const override {
    const auto [part, own] = table_->place(stream);
    return part->streams->known_length(own, slot);
  }
  void read(StreamId stream, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size,
            ReadUse use, Reply<Slices> reply) override {
    const auto [part, own] = table_->place(stream);
    part->streams->read(own, slot, item_size, offset, size, use, std::move(reply));
  }
  void run_view_job(std::function<void()> step) override { table_->own().streams->run_view_job(std::move(step)); }
  PieceCache& pieces() const override { return table_->own().streams->pieces(); }
  const Files* files() const override { return table_->own().streams->files(); }

 private:
  const std::shared_ptr<const JoinedTable> table_;
};

}  // namespace

std::shared_ptr<CachedStreams> joined_streams(std::shared_ptr<const JoinedTable> table) {
  return std::make_shared<JoinedStreams>(std::move(table));
}

}  // namespace tfilefs
