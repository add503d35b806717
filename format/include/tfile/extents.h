// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tfile/result.h"

namespace tfile {

// The begin of each chunk of a stream, in items of each slot. `first[slot]` has one number more than there are chunks.
// If the items of a chunk cannot be known, it ends at that chunk, and `damage` says why.
struct Extents {
  std::vector<std::vector<std::int64_t>> first;
  std::optional<Error> damage;

  std::size_t chunks() const { return first.empty() ? 0 : first[0].size() - 1; }
  std::int64_t length(std::uint32_t slot) const { return first[slot].back() + (damage ? 1 : 0); }
  // The number of items of each slot in a chunk; `chunk` is below chunks().
  std::vector<std::int64_t> items_of(std::size_t chunk) const;
  // The chunk that holds this item of a slot; the last chunk for an item past the end. There must be at least one
  // chunk.
  std::uint32_t chunk_of(std::uint32_t slot, std::int64_t item) const;
};

// Adds up the items of a stream's chunks, in their order. After the first error it takes no more; the error becomes the
// `damage` of the extents.
class ExtentSum {
 public:
  explicit ExtentSum(std::size_t slots) { extents_.first.assign(slots, {0}); }
  bool is_open() const { return !extents_.damage; }

  // Adds the number of items of each slot in the next chunk. Impossible numbers count as damage.
  void add(std::span<const std::int64_t> items);
  // Ends the sum: the items of the next chunk cannot be known.
  void stop(Error);

  // The begin of the next chunk, in items of each slot.
  std::vector<std::int64_t> end() const;

  // Errors: the error that ended the sum, unless it is damaged or unsupported: these are part of the extents.
  Result<Extents> take();

 private:
  Extents extents_;
};

}  // namespace tfile
