// SPDX-License-Identifier: Apache-2.0
#include "tree/read/table_memory.h"
#include "tree/read/tree_table.h"

namespace tfile {
namespace {

class TriedTable final : public Table {
 public:
  TriedTable(std::shared_ptr<const Table> outline, BranchNodes made) : outline_(std::move(outline)) {
    name = outline_->name;
    title = outline_->title;
    kind = outline_->kind;
    entries = outline_->entries;
    reason = outline_->reason;
    siblings = outline_->siblings;
    nodes = std::move(made.nodes);
    columns = std::move(made.columns);
  }

  std::size_t memory() const override { return memory_of(*this); }
  std::size_t stream_count() const override { return outline_->stream_count(); }
  StreamShape shape(StreamId id) const override { return outline_->shape(id); }
  std::vector<Sibling> siblings_of(StreamId id) const override { return outline_->siblings_of(id); }
  EntryRange chunk_entries(ChunkKey key) const override { return outline_->chunk_entries(key); }
  Result<Locator> locate(ChunkKey key) const override { return outline_->locate(key); }
  std::uint64_t decoded_size(ChunkKey key) const override { return outline_->decoded_size(key); }
  std::vector<ChunkKey> inputs(ChunkKey key) const override { return outline_->inputs(key); }
  std::vector<std::int64_t> lengths(StreamId id) const override { return outline_->lengths(id); }
  Result<Extents> extents(StreamId id) const override { return outline_->extents(id); }
  const ItemCounter* counter() const override { return outline_->counter(); }
  std::uint64_t unpacked_size(ChunkKey key, std::span<const std::byte> stored) const override {
    return outline_->unpacked_size(key, stored);
  }
  std::string contradicted_sums(StreamId id, std::uint64_t unpacked) const override {
    return outline_->contradicted_sums(id, unpacked);
  }
  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override {
    return outline_->decode(key, stored, inputs, first);
  }

 private:
  const std::shared_ptr<const Table> outline_;
};

}  // namespace

std::shared_ptr<const Table> whole_table(std::shared_ptr<const Table> outline, BranchNodes all,
                                         std::vector<ColumnId> unread) {
  auto table = std::make_shared<TriedTable>(outline, std::move(all));
  table->clusters = outline->clusters;
  table->warnings = outline->warnings;
  table->friends = outline->friends;
  table->aliases = outline->aliases;
  table->has_index = outline->has_index;
  table->unread = std::move(unread);
  return table;
}

std::shared_ptr<const Table> table_below(std::shared_ptr<const Table> outline, BranchNodes below) {
  return std::make_shared<TriedTable>(std::move(outline), std::move(below));
}

}  // namespace tfile
