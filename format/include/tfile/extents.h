// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tfile/result.h"

namespace tfile {

// Where each chunk of a stream begins, in items of each slot. `first[slot]` has one number more than there are chunks;
// or, when a chunk's items cannot be known, it ends at that chunk and `damage` says why.
struct Extents {
  std::vector<std::vector<std::int64_t>> first;
  std::optional<Error> damage;

  std::size_t chunks() const { return first.empty() ? 0 : first[0].size() - 1; }
  std::int64_t length(std::uint32_t slot) const { return first[slot].back() + (damage ? 1 : 0); }
  // Items of each slot that a chunk holds, below chunks().
  std::vector<std::int64_t> items_of(std::size_t chunk) const;
  // The chunk that holds this item of a slot; the last one for an item beyond. There is a chunk.
  std::uint32_t chunk_of(std::uint32_t slot, std::int64_t item) const;
};

// Adds up the items of a stream's chunks, in their order. Takes nothing more after the first error, which becomes the
// damage of the extents.
class ExtentSum {
 public:
  explicit ExtentSum(std::size_t slots) { extents_.first.assign(slots, {0}); }
  bool is_open() const { return !extents_.damage; }

  // The items that the next chunk holds of each slot. Impossible numbers are damage.
  void add(std::span<const std::int64_t> items);
  // The items of the next chunk cannot be told.
  void stop(Error);

  // Where the next chunk begins, in items of each slot.
  std::vector<std::int64_t> end() const;

  // Errors: whatever stopped it, unless that was damage or something unsupported, which are part of the extents.
  Result<Extents> take();

 private:
  Extents extents_;
};

}  // namespace tfile
