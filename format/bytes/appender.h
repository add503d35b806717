// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/endian.h"

namespace tfile {

// Appends bytes in the form that Cursor reads.
class Appender {
 public:
  template <class T>
  void big(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    store_big(bytes_.data() + bytes_.size() - sizeof(T), value);
  }
  void u1(std::uint8_t value) { bytes_.push_back(std::byte{value}); }
  // 4 bytes, or 8 if `wide`.
  void address(std::uint64_t value, bool wide) {
    if (wide) {
      big(value);
    } else {
      big(static_cast<std::uint32_t>(value));
    }
  }
  void bytes(std::span<const std::byte> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }
  void text(std::string_view text) { bytes(std::as_bytes(std::span(text))); }
  void zeros(std::size_t count) { bytes_.resize(bytes_.size() + count); }

  // ROOT's counted string: length as u1, or 255 followed by an i4.
  void string(std::string_view content) {
    if (content.size() < 255) {
      u1(static_cast<std::uint8_t>(content.size()));
    } else {
      u1(255);
      big(static_cast<std::int32_t>(content.size()));
    }
    text(content);
  }
  static std::size_t string_size(std::string_view content) {
    return (content.size() < 255 ? 1 : 1 + 4) + content.size();
  }

  // Overwrites bytes that were appended before; all bytes from `position` on must exist.
  template <class T>
  void patch_big(std::size_t position, T value) {
    store_big(bytes_.data() + position, value);
  }

  std::size_t size() const { return bytes_.size(); }
  std::span<const std::byte> span() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace tfile
