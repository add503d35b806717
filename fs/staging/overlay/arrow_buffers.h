// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>

#include "array/arrow_metadata.h"
#include "staging/overlay/column_source.h"
#include "staging/overlay/staging_memory.h"

namespace tfilefs {

// A buffer of an Arrow file: where it is stored, and its size when decompressed.
struct ArrowBufferAt {
  std::uint64_t offset = 0, stored = 0;
  std::uint64_t size = 0;
  ArrowCodec codec = ArrowCodec::none;
};

// Reads the buffers of a staged Arrow file. Bytes that had to be decompressed or assembled are kept for a while, since
// they are read in pieces. Used by one thread at a time; blocks.
class ArrowBuffers {
 public:
  ArrowBuffers(std::shared_ptr<const ColumnSource> file, StagingMemory& memory)
      : file_(std::move(file)), memory_(memory) {}

  // Errors: damaged, io.
  Result<> read_file(std::uint64_t offset, std::span<std::byte> into) const;
  Result<> read(const ArrowBufferAt&, std::uint64_t offset, std::span<std::byte> into);
  std::optional<Slices> pin(const ArrowBufferAt&, std::uint64_t offset, std::size_t size) const;

  // The bytes that `fill` makes, once for as long as there is room to keep them. `owner`: a number of new_owner().
  using Fill = std::function<Result<>(std::span<std::byte>)>;
  Result<std::shared_ptr<StagedBuffer>> made(std::uint64_t owner, std::uint64_t part, std::uint64_t size,
                                             const Fill& fill);
  static std::uint64_t new_owner();

 private:
  struct Kept {
    std::uint64_t owner = 0, part = 0;
    std::shared_ptr<StagedBuffer> bytes;
  };

  const std::shared_ptr<const ColumnSource> file_;
  StagingMemory& memory_;
  std::list<Kept> kept_;  // the most recently used in front
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace tfilefs
