// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/node.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

struct ChunkKey {
  StreamId stream = 0;
  std::uint32_t index = 0;
  friend bool operator==(const ChunkKey&, const ChunkKey&) = default;
};

// The place of a chunk's stored bytes: at `range` in `source`; or in `embedded`, which the stream set owns; or none, if
// nothing is stored (decode then takes an empty span).
struct Locator {
  const Source* source = nullptr;  // owned by the stream set
  ByteRange range;
  std::span<const std::byte> embedded;
};

// The decoded form of one basket or page. arrays[slot] holds this chunk's part of the column in that slot, in the form
// in which it is read from the mount. An offsets column holds the ends of its lists, counted from the start of the
// column that it indexes; the chunk whose first item is item 0 begins with the leading 0.
struct Chunk {
  std::vector<Buffer> owned;
  std::shared_ptr<const Buffer> shared;            // by chunks of several streams
  std::vector<std::span<const std::byte>> arrays;  // views into `owned` and `shared`
  std::size_t memory() const {
    std::size_t sum = sizeof(Chunk) + arrays.size() * sizeof(arrays[0]);
    for (const Buffer& b : owned) sum += b.size();
    if (shared) sum += shared->size();  // counted by each chunk: any of them may be freed last
    return sum;
  }
};

}  // namespace tfile
