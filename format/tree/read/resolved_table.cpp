// SPDX-License-Identifier: Apache-2.0
#include "tree/read/table_memory.h"
#include "tree/read/tree_table.h"

namespace tfile {
namespace {

class ResolvedTable final : public Table {
 public:
  ResolvedTable(std::shared_ptr<const Table> of, BranchNodes made) : unresolved_(std::move(of)) {
    name = unresolved_->name;
    title = unresolved_->title;
    kind = unresolved_->kind;
    entries = unresolved_->entries;
    reason = unresolved_->reason;
    siblings = unresolved_->siblings;
    nodes = std::move(made.nodes);
    columns = std::move(made.columns);
  }

  std::size_t memory() const override { return memory_of(*this); }
  std::size_t stream_count() const override { return unresolved_->stream_count(); }
  StreamShape shape(StreamId id) const override { return unresolved_->shape(id); }
  std::vector<Sibling> siblings_of(StreamId id) const override { return unresolved_->siblings_of(id); }
  EntryRange chunk_entries(ChunkKey key) const override { return unresolved_->chunk_entries(key); }
  Result<Locator> locate(ChunkKey key) const override { return unresolved_->locate(key); }
  std::uint64_t decoded_size(ChunkKey key) const override { return unresolved_->decoded_size(key); }
  std::vector<ChunkKey> inputs(ChunkKey key) const override { return unresolved_->inputs(key); }
  std::vector<std::int64_t> lengths(StreamId id) const override { return unresolved_->lengths(id); }
  Result<Extents> extents(StreamId id) const override { return unresolved_->extents(id); }
  const ItemCounter* counter() const override { return unresolved_->counter(); }
  std::uint64_t unpacked_size(ChunkKey key, std::span<const std::byte> stored) const override {
    return unresolved_->unpacked_size(key, stored);
  }
  std::string_view codec_of(ChunkKey key, std::span<const std::byte> begin, std::uint64_t stored) const override {
    return unresolved_->codec_of(key, begin, stored);
  }
  std::string contradicted_sums(StreamId id, std::uint64_t unpacked) const override {
    return unresolved_->contradicted_sums(id, unpacked);
  }
  Result<Chunk> decode(ChunkKey key, std::span<const std::byte> stored,
                       std::span<const std::shared_ptr<const Chunk>> inputs,
                       std::span<const std::int64_t> first) const override {
    return unresolved_->decode(key, stored, inputs, first);
  }

 private:
  const std::shared_ptr<const Table> unresolved_;
};

}  // namespace

std::shared_ptr<const Table> whole_table(std::shared_ptr<const Table> of, BranchNodes all,
                                         std::vector<ColumnId> unread) {
  auto table = std::make_shared<ResolvedTable>(of, std::move(all));
  table->clusters = of->clusters;
  table->warnings = of->warnings;
  table->friends = of->friends;
  table->aliases = of->aliases;
  table->has_index = of->has_index;
  table->unread = std::move(unread);
  return table;
}

std::shared_ptr<const Table> table_below(std::shared_ptr<const Table> of, BranchNodes below) {
  return std::make_shared<ResolvedTable>(std::move(of), std::move(below));
}

}  // namespace tfile
