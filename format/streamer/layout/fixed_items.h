// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "streamer/layout/array_builder.h"
#include "streamer/layout/read_program.h"

namespace tfile {

// The items of a block that all have the same bytes but for their numbers: where each number lies, and which bytes
// (byte counts, versions, bits) must be as they were in the item that this was learned from. Such items are taken apart
// a column at a time instead of an instruction at a time.
class FixedItems {
 public:
  // From an item at the start of `bytes`. False: items of this block may differ in size.
  bool learn(const Program&, Block, std::span<const std::byte> bytes);

  std::size_t size() const { return size_; }

  // How many items at `at`, one behind the other, are as learned: at most `count`, whose bytes must be there.
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
