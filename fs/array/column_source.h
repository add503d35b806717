// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "content.h"

namespace tfilefs {

// Bytes of a column that is written: as they were staged, or made from a file of columns.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;

  // Fills `into` from `offset`, up to the end; returns the number of bytes read. Blocks. `offset` and size are
  // multiples of an item.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const = 0;

  // Those bytes in place, if they are in memory; they do not change while the pins live.
  virtual std::optional<Slices> pin(std::uint64_t offset, std::size_t size) const = 0;
};

}  // namespace tfilefs
