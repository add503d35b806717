// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "cache/cluster_cache.h"
#include "fs/cache/synthetic_streams.h"
#include "tfile/table.h"

namespace tfilefs {

// A table made of arrays: each column has its own stream, cut into chunks of a few items.
class ArrayTable : public tfile::Table, public tfile::ItemCounter {
 public:
  explicit ArrayTable(std::int64_t chunk_items = 3) : chunk_items_(chunk_items) {
    kind = "ttree";
    nodes.emplace_back();
  }

  tfile::NodeId directory(tfile::NodeId parent, std::string node_name) {
    nodes.emplace_back().name = std::move(node_name);
    nodes[parent].children.push_back(static_cast<tfile::NodeId>(nodes.size() - 1));
    lists_.resize(nodes.size());
    lists_.back() = lists_[parent];
    return static_cast<tfile::NodeId>(nodes.size() - 1);
  }

  template <class T>
  tfile::NodeId column(tfile::NodeId parent, std::string node_name, tfile::Role role, const std::vector<T>& items,
                       std::vector<std::uint32_t> shape = {}) {
    const auto typed = tfile::parse_typed_name(node_name);
    tfile::Column made;
    made.path = made.name = node_name;
    made.dtype = typed ? typed->dtype : tfile::Dtype::u1;
    made.shape = std::move(shape);
    made.role = role;
    made.stream = static_cast<tfile::StreamId>(arrays_.size());
    if (role == tfile::Role::offsets) lists_[parent].push_back(static_cast<tfile::ColumnId>(columns.size()));
    made.lists = lists_[parent];
    std::vector<std::byte> bytes(items.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), items.data(), bytes.size());
    item_sizes_.push_back(made.item_size());
    arrays_.push_back(std::move(bytes));
    columns.push_back(std::move(made));
    const tfile::NodeId id = directory(parent, std::move(node_name));
    nodes[id].kind = tfile::NodeKind::number;
    nodes[id].column = static_cast<tfile::ColumnId>(columns.size() - 1);
    if (parent != 0) note_role(nodes[parent], role);
    return id;
  }
  tfile::NodeId string(tfile::NodeId parent, std::string node_name, const std::vector<std::string>& strings) {
    const tfile::NodeId id = directory(parent, std::move(node_name));
    std::vector<std::int64_t> ends{0};
    std::vector<char> chars;
    for (const auto& s : strings) {
      chars.insert(chars.end(), s.begin(), s.end());
      ends.push_back(std::ssize(chars));
    }
    column(id, "offsets.i8", tfile::Role::offsets, ends);
    column(id, "chars.u1", tfile::Role::chars, chars);
    return id;
  }

  std::size_t stream_count() const override { return arrays_.size(); }
  tfile::StreamShape shape(tfile::StreamId s) const override {
    return {.chunks = static_cast<std::size_t>((length(s) + chunk_items_ - 1) / chunk_items_),
            .slots = 1,
            .items_from = s == counted_stream ? tfile::ItemsFrom::payloads : tfile::ItemsFrom::metadata,
            .stored_bytes = arrays_[s].size()};
  }
  tfile::EntryRange chunk_entries(tfile::ChunkKey key) const override { return {key.index, key.index + 1}; }
  Result<tfile::Locator> locate(tfile::ChunkKey key) const override { return tfile::Locator{nullptr, {}, part(key)}; }
  std::uint64_t decoded_size(tfile::ChunkKey key) const override { return part(key).size(); }
  std::vector<tfile::ChunkKey> inputs(tfile::ChunkKey) const override { return {}; }
  std::vector<std::int64_t> lengths(tfile::StreamId s) const override { return {s == counted_stream ? -1 : length(s)}; }
  Result<tfile::Extents> extents(tfile::StreamId s) const override {
    tfile::ExtentSum sum(1);
    for (std::uint32_t i = 0; i < chunk_count(s); ++i) sum.add(items({s, i}));
    return sum.take();
  }
  const tfile::ItemCounter* counter() const override { return this; }
  Result<Counted> count(tfile::ChunkKey key, std::span<const std::byte>,
                        std::span<const std::shared_ptr<const tfile::Chunk>>) const override {
    return Counted{items(key), {}};
  }
  Result<tfile::Chunk> decode(tfile::ChunkKey, std::span<const std::byte> stored,
                              std::span<const std::shared_ptr<const tfile::Chunk>>,
                              std::span<const std::int64_t>) const override {
    tfile::Chunk chunk;
    chunk.owned.emplace_back(stored.size());
    if (!stored.empty()) std::memcpy(chunk.owned[0].data(), stored.data(), stored.size());
    chunk.arrays.emplace_back(chunk.owned[0].span());
    return chunk;
  }

  tfile::StreamId counted_stream = ~0u;  // a stream whose length follows only from payloads

 private:
  // Sets the kind of the node that contains a column of that role.
  static void note_role(tfile::Node& parent, tfile::Role role) {
    using tfile::NodeKind, tfile::Role;
    if (role == Role::offsets) parent.kind = NodeKind::list;
    if (role == Role::chars) parent.kind = NodeKind::string;
    if (role == Role::raw) parent.kind = NodeKind::raw;
    if (role == Role::tags) parent.kind = NodeKind::variant;
  }
  std::int64_t length(tfile::StreamId s) const { return static_cast<std::int64_t>(arrays_[s].size() / item_sizes_[s]); }
  std::vector<std::int64_t> items(tfile::ChunkKey key) const {
    return {static_cast<std::int64_t>(part(key).size() / item_sizes_[key.stream])};
  }
  std::span<const std::byte> part(tfile::ChunkKey key) const {
    const std::size_t size = static_cast<std::size_t>(chunk_items_) * item_sizes_[key.stream];
    const auto all = std::span(arrays_[key.stream]);
    return all.subspan(key.index * size, std::min(size, all.size() - key.index * size));
  }

  const std::int64_t chunk_items_;
  std::vector<std::vector<std::byte>> arrays_;
  std::vector<std::size_t> item_sizes_;
  std::vector<std::vector<tfile::ColumnId>> lists_{{}};  // the lists around the content of each node
};

// A table with a cache of its own.
struct TableRig {
  explicit TableRig(std::shared_ptr<ArrayTable> made, std::uint64_t memory = 16 << 20)
      : table(std::move(made)),
        cache(std::make_unique<ClusterCache>(CacheOptions{.memory = memory, .threads = 2, .io_threads = 2})),
        streams(cache->attach(table)) {}
  std::shared_ptr<ArrayTable> table;
  std::unique_ptr<ClusterCache> cache;
  std::shared_ptr<CachedStreams> streams;
};

inline std::string content_bytes(Content& content, std::uint64_t offset, std::size_t size) {
  Answer<Slices> answer;
  content.read(offset, size, answer.reply());
  const auto slices = answer.wait();
  if (!slices) return "error: " + slices.error().text;
  std::string bytes;
  for (const auto piece : slices->pieces) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

}  // namespace tfilefs
