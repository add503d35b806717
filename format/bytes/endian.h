// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tfile {

template <std::size_t kSize>
struct UnsignedOfSize;
template <>
struct UnsignedOfSize<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOfSize<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOfSize<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOfSize<8> {
  using type = std::uint64_t;
};

inline std::uint8_t byte_swap(std::uint8_t v) { return v; }
inline std::uint16_t byte_swap(std::uint16_t v) { return __builtin_bswap16(v); }
inline std::uint32_t byte_swap(std::uint32_t v) { return __builtin_bswap32(v); }
inline std::uint64_t byte_swap(std::uint64_t v) { return __builtin_bswap64(v); }

static_assert(std::endian::native == std::endian::little, "arrays are handed out as they lie in memory");

template <class T>
concept Number = std::is_arithmetic_v<T>;

// The big-endian number at `p`. The caller must have checked that sizeof(T) bytes are available.
template <Number T>
T load_big(const std::byte* p) {
  typename UnsignedOfSize<sizeof(T)>::type raw;
  std::memcpy(&raw, p, sizeof raw);
  return std::bit_cast<T>(byte_swap(raw));
}

template <Number T>
T load_little(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <Number T>
void store_big(std::byte* p, T value) {
  const auto raw = byte_swap(std::bit_cast<typename UnsignedOfSize<sizeof(T)>::type>(value));
  std::memcpy(p, &raw, sizeof raw);
}

template <Number T>
void store_little(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

}  // namespace tfile
