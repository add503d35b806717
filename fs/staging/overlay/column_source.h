// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "content.h"

namespace tfilefs {

// Where a commit takes the bytes of a column from: what was staged as they are, or what is made of it.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;

  // Fills `into` from `offset`, up to the end; gives the bytes read. Blocks. `offset` and size are of whole items.
  virtual Result<std::size_t> read(std::uint64_t offset, std::span<std::byte> into) const = 0;

  // Those bytes where they lie, if they are in memory; they stay as they are while the pins live.
  virtual std::optional<Slices> pin(std::uint64_t offset, std::size_t size) const = 0;
};

}  // namespace tfilefs
