// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// Reads parts of a payload that is not in memory as a whole, for one thread. In order of their places this is fast.
class PayloadReader {
 public:
  virtual ~PayloadReader() = default;
  // These bytes, until the next call. Errors: damaged; those of the storage. Blocks.
  virtual Result<std::span<const std::byte>> read(ByteRange) = 0;
};

// The payload of an object. Of a large one only the bytes between its long arrays are in memory: the addresses of the
// others exist, and tell where they are, but only a reader has what is there.
class PayloadBytes {
 public:
  virtual ~PayloadBytes() = default;
  virtual std::span<const std::byte> span() const = 0;
  virtual std::unique_ptr<PayloadReader> reader() const = 0;
  // More than the header of a value takes, or numbers that are no array.
  static constexpr std::uint64_t kWantedAhead = 1 << 20;
  // Makes sure that the next kWantedAhead bytes are there. False: they are not.
  virtual bool want(std::size_t /*position*/) const { return true; }

  // The place of bytes of span().
  ByteRange place_of(std::span<const std::byte> bytes) const {
    return {static_cast<std::uint64_t>(bytes.data() - span().data()), bytes.size()};
  }
};

// A payload that is in memory.
class WholePayload final : public PayloadBytes {
 public:
  explicit WholePayload(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::span<const std::byte> span() const override { return bytes_; }
  std::unique_ptr<PayloadReader> reader() const override {
    struct Reader final : PayloadReader {
      explicit Reader(std::span<const std::byte> all_) : all(all_) {}
      Result<std::span<const std::byte>> read(ByteRange range) override { return all.subspan(range.begin, range.size); }
      std::span<const std::byte> all;
    };
    return std::make_unique<Reader>(bytes_);
  }

 private:
  const std::span<const std::byte> bytes_;
};

}  // namespace tfile
