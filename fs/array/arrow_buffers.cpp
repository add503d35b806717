// SPDX-License-Identifier: Apache-2.0
#include "array/arrow_buffers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <vector>

namespace tfilefs {

using tfile::fail;

namespace {

// Most bytes that are kept: the buffers of some columns in a batch, as pyarrow and polars cut them.
constexpr std::uint64_t kKeptMax = 64 << 20;
// The owner of decompressed buffers; the part is the buffer's place in the file.
constexpr std::uint64_t kStored = 0;

}  // namespace

std::uint64_t ArrowBuffers::new_owner() {
  static std::atomic<std::uint64_t> last = kStored;
  return ++last;
}

Result<> ArrowBuffers::read_file(std::uint64_t offset, std::span<std::byte> into) const {
  TRY(const std::size_t got, file_->read(offset, into));
  if (got != into.size())
    return fail(
        ErrorKind::damaged,
        "Arrow: file is truncated: read " + std::to_string(got) + " of " + std::to_string(into.size()) + " bytes",
        static_cast<std::int64_t>(offset));
  return {};
}

Result<> ArrowBuffers::read(const ArrowBufferAt& buffer, std::uint64_t offset, std::span<std::byte> into) {
  if (offset > buffer.size || into.size() > buffer.size - offset)
    return fail(ErrorKind::damaged,
                "Arrow: " + std::to_string(into.size()) + " bytes of items at " + std::to_string(offset) +
                    " of a buffer of " + std::to_string(buffer.size),
                static_cast<std::int64_t>(buffer.offset));
  if (into.empty()) return {};
  if (buffer.codec == ArrowCodec::none) return read_file(buffer.offset + offset, into);
  const auto decompress = [&](std::span<std::byte> to) -> Result<> {
    std::vector<std::byte> stored(buffer.stored);
    TRY_VOID(read_file(buffer.offset, stored));
    return decompress_arrow(buffer.codec, stored, to);
  };
  TRY(const auto bytes, made(kStored, buffer.offset, buffer.size, decompress));
  std::memcpy(into.data(), bytes.get() + offset, into.size());
  return {};
}

std::optional<Slices> ArrowBuffers::pin(const ArrowBufferAt& buffer, std::uint64_t offset, std::size_t size) const {
  const bool is_within = offset <= buffer.size && size <= buffer.size - offset;
  if (buffer.codec != ArrowCodec::none || !is_within) return std::nullopt;
  return file_->pin(buffer.offset + offset, size);
}

Result<std::shared_ptr<const std::byte>> ArrowBuffers::made(std::uint64_t owner, std::uint64_t part, std::uint64_t size,
                                                            const Fill& fill) {
  const auto known =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return one.owner == owner && one.part == part; });
  if (known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().bytes;
  }
  while (!kept_.empty() && kept_bytes_ + size > kKeptMax) {
    kept_bytes_ -= kept_.back().size;
    kept_.pop_back();
  }
  TRY(const std::shared_ptr<std::byte> bytes, memory_(size));
  TRY_VOID(fill({bytes.get(), size}));
  kept_bytes_ += size;
  kept_.push_front({owner, part, size, bytes});
  return bytes;
}

}  // namespace tfilefs
