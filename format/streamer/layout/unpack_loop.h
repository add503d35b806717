// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include <bit>
#include <cstring>

#include "bytes/endian.h"
#include "streamer/layout/packing.h"

namespace tfile {
namespace {  // compiled once per instruction set; a single linked copy would mix them

template <class T>
inline T big_at(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return byte_swap(value);
}

inline float float_at(const std::byte* p) { return std::bit_cast<float>(big_at<std::uint32_t>(p)); }

inline float truncated_number(const std::byte* p, std::uint32_t bits) {
  const auto exponent = std::to_integer<std::uint32_t>(*p);
  const std::uint32_t mantissa = big_at<std::uint16_t>(p + 1);
  const std::uint32_t kept = mantissa & ((1u << (bits + 1)) - 1), sign = mantissa >> (bits + 1) & 1;
  return std::bit_cast<float>(((exponent << 23) | (kept << (23 - bits))) ^ sign << 31);
}

inline double ranged_number(const std::byte* p, double minimum, double factor) {
  // Converts as a signed number, since processors have an instruction for that. The resulting double is the same.
  const auto steps = std::bit_cast<std::int32_t>(big_at<std::uint32_t>(p) ^ 0x80000000u);
  return (static_cast<double>(steps) + 2147483648.0) / factor + minimum;
}

template <class Out, class Number>
inline void unpack_each(const std::byte* from, std::byte* to, std::size_t count, std::size_t step, Number&& number_at) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Out>(number_at(from + i * step));
    std::memcpy(to + i * sizeof(Out), &value, sizeof value);
  }
}

// Compilers do not vectorise items of three bytes.
template <class Out>
inline void unpack_truncated(const std::byte* from, std::byte* to, std::size_t count, std::uint32_t bits) {
  std::size_t i = 0;
#ifdef __AVX2__
  const __m128i order = _mm_setr_epi8(2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1);
  const __m128i mantissa_mask = _mm_set1_epi32(static_cast<int>((1u << (bits + 1)) - 1));
  const __m128i mantissa_shift = _mm_cvtsi32_si128(static_cast<int>(23 - bits));
  const __m128i sign_shift = _mm_cvtsi32_si128(static_cast<int>(bits + 1));
  for (; i + 6 <= count; i += 4) {  // four items per step; a register loads five and a third
    const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 3 * i));
    const __m128i items = _mm_shuffle_epi8(loaded, order);  // per item: exponent, high byte of the mantissa, low byte
    const __m128i exponent = _mm_slli_epi32(_mm_srli_epi32(items, 16), 23);
    const __m128i mantissa = _mm_sll_epi32(_mm_and_si128(items, mantissa_mask), mantissa_shift);
    const __m128i sign = _mm_slli_epi32(_mm_srl_epi32(items, sign_shift), 31);
    const __m128 values = _mm_castsi128_ps(_mm_xor_si128(_mm_or_si128(exponent, mantissa), sign));
    if constexpr (sizeof(Out) == sizeof(double))
      _mm256_storeu_pd(reinterpret_cast<double*>(to + i * sizeof(Out)), _mm256_cvtps_pd(values));
    else
      _mm_storeu_ps(reinterpret_cast<float*>(to + i * sizeof(Out)), values);
  }
#endif
  unpack_each<Out>(from + 3 * i, to + i * sizeof(Out), count - i, 3,
                   [bits](const std::byte* p) { return truncated_number(p, bits); });
}

template <class Out>
inline void unpack_as(const Packing& packing, const std::byte* from, std::byte* to, std::size_t count) {
  switch (packing.kind) {
    case Packing::Kind::plain_float:
      return unpack_each<Out>(from, to, count, 4, float_at);
    case Packing::Kind::truncated:
      return unpack_truncated<Out>(from, to, count, packing.bits);
    case Packing::Kind::ranged:
      return unpack_each<Out>(from, to, count, 4,
                              [minimum = packing.minimum, factor = packing.factor](const std::byte* p) {
                                return ranged_number(p, minimum, factor);
                              });
  }
}

inline void unpack_any(const Packing& packing, const std::byte* from, std::byte* to, std::size_t count) {
  packing.to_double ? unpack_as<double>(packing, from, to, count) : unpack_as<float>(packing, from, to, count);
}

}  // namespace
}  // namespace tfile
