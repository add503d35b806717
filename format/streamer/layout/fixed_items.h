// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "streamer/layout/array_builder.h"
#include "streamer/layout/read_program.h"

namespace tfile {

// Items of a block that have the same bytes except for their numbers: the place of each number, and the bytes (byte
// counts, versions, bits) that must equal those of the item from which this was learned. Such items are decoded column
// by column instead of instruction by instruction.
class FixedItems {
 public:
  // Learns from an item at the start of `bytes`. False: items of this block may differ in size.
  bool learn(const Program&, Block, std::span<const std::byte> bytes);

  std::size_t size() const { return size_; }

  // The number of successive items from `at` on that match the learned one, at most `count`. The bytes of `count` items
  // must exist.
  std::size_t count_alike(const std::byte* at, std::size_t count) const;

  // Appends the numbers of `count` such items to their slots.
  void gather(const Program&, const std::byte* at, std::size_t count, std::vector<ArrayBuilder>& slots) const;

 private:
  struct Part {
    std::uint32_t offset, size, slot;
    std::int32_t packing;  // < 0: as stored
  };
  struct Check {
    std::uint32_t offset, mask, value;  // of the big-endian number at `offset`
  };
  bool learn_op(const Program&, const Op&, std::span<const std::byte> bytes);
  bool learn_frame(const Program&, const Op&, std::span<const std::byte> bytes, std::size_t* end);
  void add_part(std::uint32_t size, std::uint32_t slot, std::int32_t packing = -1);
  void add_bits(std::uint32_t slot);

  std::vector<Part> parts_;
  std::vector<Check> checks_;
  std::size_t size_ = 0;
};

}  // namespace tfile
