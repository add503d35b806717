// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "streamer/layout/read_program.h"

namespace tfile::test {

// Makes programs instruction by instruction: inner blocks first, then `make` with the outermost.
class ProgramMaker {
 public:
  Block block(const std::vector<Op>& ops) {
    Block made;
    made.begin = static_cast<std::uint32_t>(program_.ops.size());
    program_.ops.insert(program_.ops.end(), ops.begin(), ops.end());
    made.end = static_cast<std::uint32_t>(program_.ops.size());
    return made;
  }
  std::uint32_t slot(Slot slot) {
    program_.slots.push_back(slot);
    return static_cast<std::uint32_t>(program_.slots.size() - 1);
  }
  Program make(const std::vector<Op>& main) {
    program_.main = block(main);
    return program_;
  }

  // Makes instructions with new slots.
  Op numbers(std::uint8_t size, std::uint32_t count = 1) {
    return {.kind = Op::Kind::numbers,
            .item_size = size,
            .slot = slot({Slot::Kind::big_endian, size, size * count}),
            .count = count};
  }
  Op booleans() { return {.kind = Op::Kind::numbers, .item_size = 1, .slot = slot({Slot::Kind::boolean, 1, 1})}; }
  Op string(Op::Kind kind = Op::Kind::string) {
    const std::uint32_t ends = slot({Slot::Kind::ends, 8, 8});
    slot({Slot::Kind::native, 1, 1});
    return {.kind = kind, .slot = ends};
  }
  // The slots of the list come before those of its items.
  Op list(Op::Kind kind) {
    const std::uint32_t ends = slot({Slot::Kind::ends, 8, 8});
    slot({Slot::Kind::hidden, 1, 1});
    return {.kind = kind, .slot = ends};
  }
  Op packed(const Packing& packing) {
    program_.packings.push_back(packing);
    const std::uint32_t size = packing.to_double ? 8 : 4;
    return {.kind = Op::Kind::packed,
            .packing = static_cast<std::uint16_t>(program_.packings.size() - 1),
            .slot = slot({Slot::Kind::native, size, size})};
  }
  // Also puts the number into a new register.
  Op into_register(Op numbers) {
    numbers.reg = static_cast<std::int16_t>(program_.registers++);
    return numbers;
  }
  Program& program() { return program_; }

 private:
  Program program_;
};

}  // namespace tfile::test
