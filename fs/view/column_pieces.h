// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "content.h"
#include "exec/when_all.h"
#include "on_behalf.h"
#include "tfile/buffer.h"
#include "tfile/node.h"

namespace tfilefs {

// Bytes that are composed of pieces of columns, as they are or made of them: those of views, of chains, of friends.

// A range of a column's bytes.
struct ColumnRange {
  tfile::StreamId stream = 0;
  std::uint32_t slot = 0;
  std::size_t item_size = 0;
  std::uint64_t offset = 0, size = 0;
};
// The range of these items; at most as far as a file can reach (2^63 - 1 bytes).
ColumnRange range_of_items(const tfile::Column&, std::int64_t first, std::int64_t count);

// Exactly those bytes, or an error: fewer contradict the size that was announced.
void read_whole(CachedStreams&, const ColumnRange&, ReadUse, Reply<Slices>);
inline void read_whole(CachedStreams& streams, const ColumnRange& range, Reply<Slices> reply) {
  read_whole(streams, range, ReadUse(), std::move(reply));
}

// The bytes of some ranges, in their order: what other bytes are made of.
class Inputs {
 public:
  // A long one that is in one piece stays where it is in the cache.
  void add(Slices);
  // Copies what is held in the cache, to whose memory others have a right.
  void let_go();
  std::size_t size() const { return bytes_.size(); }
  std::span<const std::string_view> bytes() const { return bytes_; }

 private:
  void copy(const Slices&);

  std::vector<tfile::Buffer> memory_;
  std::vector<std::string_view> bytes_;
  Slices held_;  // the last of them, unless it is empty
};

// Adds these ranges to the inputs, one after the other. Each is copied before the next is read: what waits for memory
// must hold none. Errors: as of read_whole().
void read_inputs(std::shared_ptr<CachedStreams>, std::vector<ColumnRange>, ReadUse, Inputs before, Reply<Inputs>);

// For bytes that go to a place in memory.
inline Reply<Slices> copied_to(std::byte* to, Reply<void> reply) {
  return answer_with<Slices>(std::move(reply), [to](const Slices& slices) { copy_slices(slices, to); });
}

// Puts parts together in a buffer: read(part, to, Reply<>) fills `part.size` bytes. All are read at the same time, so
// that none holds chunks in memory while another waits for some. The first error is the reply, when all have answered.
template <class Part, class Read>
void put_together(std::vector<Part> parts, Read read, Reply<Slices> reply) {
  std::uint64_t size = 0;
  for (const Part& part : parts) size += part.size;
  auto buffer = std::make_shared<tfile::Buffer>(size);
  const std::size_t count = parts.size();
  auto read_next = [read = std::move(read), parts = std::move(parts), to = buffer->data()](std::size_t i, const Slices&,
                                                                                           Reply<void> done) mutable {
    std::byte* const begin = std::exchange(to, to + parts[i].size);
    read(parts[i], begin, std::move(done));
  };
  when_all(count, count, one_slice(std::move(buffer)), std::move(read_next), std::move(reply));
}

// Bytes of a column, and where they go in a buffer.
struct Pick {
  std::uint64_t from = 0, size = 0, to = 0;
};

// Brings ranges of a column (of which its offset and size are not used), in any order, into the buffer. They are read
// in the order in which they lie, some at the same time; what lies close together is one read, and no part of the
// column is held longer than it is copied. Errors: those of reading, damaged (the column ends before a range).
void pick_items(std::shared_ptr<CachedStreams>, const ColumnRange& column, std::vector<Pick>,
                std::shared_ptr<tfile::Buffer>, ReadUse, Reply<void>);

// A reply for a piece that is made, which `owner` keeps.
template <class Owner>
Reply<PiecePtr> keeping(PieceCache& cache, std::shared_ptr<Owner> owner, std::size_t key, Reply<PiecePtr> reply) {
  auto keep = [&cache, owner = std::move(owner), key](PiecePtr made) {
    cache.keep(owner.get(), key, made);
    return made;
  };
  return answer_with<PiecePtr>(std::move(reply), std::move(keep));
}

}  // namespace tfilefs
