// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>

#include "array/arrow_metadata.h"
#include "array/column_source.h"
#include "tfile/result.h"

namespace tfilefs {

// A buffer of an Arrow file: where it is stored, and its size when decompressed.
struct ArrowBufferAt {
  std::uint64_t offset = 0, stored = 0;
  std::uint64_t size = 0;
  ArrowCodec codec = ArrowCodec::none;
};

// Memory for bytes that are made from a file. May wait until there is room. Errors: no_space, io.
using ArrowMemory = std::function<Result<std::shared_ptr<std::byte>>(std::size_t size)>;

// Reads the buffers of an Arrow file. Bytes that had to be decompressed or assembled are kept for a while, since
// they are read in pieces. Used by one thread at a time; blocks.
class ArrowBuffers {
 public:
  ArrowBuffers(std::shared_ptr<const ColumnSource> file, ArrowMemory memory)
      : file_(std::move(file)), memory_(std::move(memory)) {}

  // Errors: damaged, io.
  Result<> read_file(std::uint64_t offset, std::span<std::byte> into) const;
  Result<> read(const ArrowBufferAt&, std::uint64_t offset, std::span<std::byte> into);
  std::optional<Slices> pin(const ArrowBufferAt&, std::uint64_t offset, std::size_t size) const;

  // The bytes that `fill` makes, once for as long as there is room to keep them. `owner`: a number of new_owner().
  using Fill = std::function<Result<>(std::span<std::byte>)>;
  Result<std::shared_ptr<const std::byte>> made(std::uint64_t owner, std::uint64_t part, std::uint64_t size,
                                                const Fill& fill);
  static std::uint64_t new_owner();

 private:
  struct Kept {
    std::uint64_t owner = 0, part = 0, size = 0;
    std::shared_ptr<const std::byte> bytes;
  };

  const std::shared_ptr<const ColumnSource> file_;
  const ArrowMemory memory_;
  std::list<Kept> kept_;  // the most recently used in front
  std::uint64_t kept_bytes_ = 0;
};

// Decompresses the bytes of an Arrow buffer, without the length in front, into all of `into`. Errors: damaged.
tfile::Result<> decompress_arrow(ArrowCodec, std::span<const std::byte> from, std::span<std::byte> into);

}  // namespace tfilefs
