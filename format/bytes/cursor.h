// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bytes/endian.h"
#include "tfile/result.h"

namespace tfile {

// Reads a stretch of bytes from front to back and checks each read against the end. The first read that does not fit
// makes the cursor *failed*: every later read then gives zero (or nothing) and does not move, so that a series of reads
// needs only one check at its end. A count read from a failed cursor is 0, so nothing is allocated for it.
class Cursor {
 public:
  Cursor() = default;
  // `file_offset`: the place of byte 0 of `bytes` in the file, for messages (-1: unknown, e.g. decompressed).
  explicit Cursor(std::span<const std::byte> bytes, std::int64_t file_offset = -1)
      : begin_(bytes.data()), size_(bytes.size()), file_offset_(file_offset) {}

  std::size_t position() const { return position_; }
  std::size_t size() const { return size_; }
  std::size_t left() const { return failed() ? 0 : size_ - position_; }
  bool failed() const { return failed_what_ != nullptr; }

  // `what` names what is read. It must be a literal, since the pointer is kept for the message.
  template <class T>
  T big(const char* what) {
    const std::byte* p = need(sizeof(T), what);
    return p ? load_big<T>(p) : T{};
  }
  template <class T>
  T little(const char* what) {
    const std::byte* p = need(sizeof(T), what);
    return p ? load_little<T>(p) : T{};
  }
  std::uint8_t u1(const char* what) { return big<std::uint8_t>(what); }

  std::span<const std::byte> take(std::uint64_t count, const char* what) {
    const std::byte* p = need(count, what);
    return p ? std::span<const std::byte>(p, count) : std::span<const std::byte>();
  }
  // Takes `count` items of `item_size` bytes. An overflow of the product is a failure, too.
  std::span<const std::byte> take_items(std::uint64_t count, std::size_t item_size, const char* what) {
    if (item_size != 0 && count > left() / item_size) {
      fail_here(what);
      return {};
    }
    return take(count * item_size, what);
  }
  void skip(std::uint64_t count, const char* what) { need(count, what); }

  // ROOT's counted string: length as u1, or 255 followed by an i4.
  std::string_view string(const char* what) {
    std::uint64_t length = u1(what);
    if (length == 255) {
      const auto long_length = big<std::int32_t>(what);
      if (long_length < 0) {
        fail_here(what);
        return {};
      }
      length = static_cast<std::uint64_t>(long_length);
    }
    return text(take(length, what));
  }
  // Reads up to a NUL, and skips it.
  std::string_view c_string(const char* what) {
    const std::size_t start = position_;
    while (!failed()) {
      if (u1(what) == 0 && !failed()) return text({begin_ + start, position_ - start - 1});
    }
    return {};
  }

  // Moves to any position inside, or to the end.
  void seek(std::uint64_t position, const char* what) {
    if (failed()) return;
    if (position > size_) {
      fail_here(what);
    } else {
      position_ = position;
    }
  }
  std::span<const std::byte> bytes() const { return {begin_, size_}; }

  // Fails the cursor as a read past the end does: a value that was read contradicts something else.
  void reject(const char* what) { fail_here(what); }

  template <class T>
  Result<T> finish(T value) const {
    if (failed()) return tl::unexpected<Error>(error());
    return value;
  }
  Result<> finish() const {
    if (failed()) return tl::unexpected<Error>(error());
    return {};
  }
  Error error() const {
    return Error{ErrorKind::damaged,
                 std::string(failed_what_ ? failed_what_ : "?") + ": truncated or invalid at byte " +
                     std::to_string(position_) + " of " + std::to_string(size_),
                 file_offset_ < 0 ? -1 : file_offset_ + static_cast<std::int64_t>(position_), 0};
  }

 private:
  static std::string_view text(std::span<const std::byte> b) {
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  const std::byte* need(std::uint64_t count, const char* what) {
    if (failed_what_) return nullptr;
    if (count > size_ - position_) {
      failed_what_ = what;
      return nullptr;
    }
    const std::byte* p = begin_ + position_;
    position_ += count;
    return p;
  }
  void fail_here(const char* what) {
    if (!failed_what_) failed_what_ = what;
  }

  const std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
  std::size_t position_ = 0;
  std::int64_t file_offset_ = -1;
  const char* failed_what_ = nullptr;
};

}  // namespace tfile
