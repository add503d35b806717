// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace tfile {
namespace {

using Bytes = std::vector<std::byte>;

// The bits of the i-th element, one by one, as the specification defines them.
std::uint64_t stored_bits(const PageEncoding& encoding, const Bytes& page, std::uint64_t elements, std::uint64_t i) {
  const bool is_split = encoding.type >= ColumnType::split_int16 && encoding.type <= ColumnType::split_index64;
  std::uint64_t value = 0;
  for (unsigned bit = 0; bit < encoding.bits; ++bit) {
    const std::uint64_t at = is_split ? (bit / 8 * elements + i) * 8 + bit % 8 : i * encoding.bits + bit;
    value |= std::uint64_t{std::to_integer<unsigned>(page[at / 8] >> (at % 8)) & 1u} << bit;
  }
  return value;
}

template <class To, class From>
To as(From value) {
  To to;
  static_assert(sizeof to == sizeof value);
  std::memcpy(&to, &value, sizeof to);
  return to;
}

double half(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double sign = bits >> 15 ? -1 : 1, fraction = static_cast<double>(bits & 1023);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

// The value of an element, in the widest type of its kind.
double real(const PageEncoding& encoding, std::uint64_t bits) {
  switch (encoding.type) {
    case ColumnType::real16:
    case ColumnType::split_real16:
      return half(bits);
    case ColumnType::real32:
    case ColumnType::split_real32:
      return as<float>(static_cast<std::uint32_t>(bits));
    case ColumnType::real32_trunc:
      return as<float>(static_cast<std::uint32_t>(bits << (32 - encoding.bits)));
    case ColumnType::real32_quant:
      return encoding.min + static_cast<double>(bits) * ((encoding.max - encoding.min) /
                                                         static_cast<double>((std::uint64_t{1} << encoding.bits) - 1));
    default:
      return as<double>(bits);
  }
}
bool is_real(const PageEncoding& encoding) {
  const Dtype natural = natural_dtype(encoding);
  return natural == Dtype::f4 || natural == Dtype::f8;
}

std::int64_t integer(const PageEncoding& encoding, std::uint64_t bits) {
  switch (encoding.type) {
    case ColumnType::character:
    case ColumnType::int8:
      return static_cast<std::int8_t>(bits);
    case ColumnType::int16:
      return static_cast<std::int16_t>(bits);
    case ColumnType::int32:
      return static_cast<std::int32_t>(bits);
    case ColumnType::split_int16:
    case ColumnType::split_int32:
    case ColumnType::split_int64:
      return bits % 2 == 0 ? static_cast<std::int64_t>(bits / 2) : -static_cast<std::int64_t>(bits / 2) - 1;
    default:
      return static_cast<std::int64_t>(bits);
  }
}

std::vector<PageEncoding> number_encodings() {
  std::vector<PageEncoding> all;
  for (std::uint16_t type = 0; type < 0x1E; ++type) {
    for (std::uint16_t bits = 1; bits <= 96; ++bits) {
      const auto encoding = page_encoding(type, bits, -3, 12.5);
      if (encoding && !is_index(*encoding) && encoding->type != ColumnType::switch_) all.push_back(*encoding);
    }
  }
  return all;
}

Bytes random_page(std::mt19937_64& random, const PageEncoding& encoding, std::uint64_t elements) {
  Bytes page(page_size(encoding, elements));
  for (std::byte& byte : page) byte = static_cast<std::byte>(random());
  return page;
}

template <class T>
std::vector<T> decoded(const PageEncoding& encoding, const Bytes& page, std::uint64_t elements, Dtype dtype) {
  std::vector<T> out(elements);
  EXPECT_TRUE(decode_numbers(encoding, page, elements, dtype, std::as_writable_bytes(std::span(out))));
  return out;
}

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// All counts from 0 to 300, and random ones.
std::vector<std::uint64_t> counts(std::mt19937_64& random) {
  std::vector<std::uint64_t> all(301);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  for (int i = 0; i < 5; ++i) all.push_back(random() % 10'000);
  return all;
}

TEST(PageDecode, EveryEncodingAsTheSpecificationSays) {
  std::mt19937_64 random(1);
  EXPECT_EQ(number_encodings().size(), 23u + 22 + 32);
  for (const PageEncoding& encoding : number_encodings()) {
    for (const std::uint64_t elements : counts(random)) {
      const Bytes page = random_page(random, encoding, elements);
      const auto doubles = decoded<double>(encoding, page, elements, Dtype::f8);
      const auto floats = decoded<float>(encoding, page, elements, Dtype::f4);
      for (std::uint64_t i = 0; i < elements && is_real(encoding); ++i) {
        const double wanted = real(encoding, stored_bits(encoding, page, elements, i));
        ASSERT_TRUE(same(doubles[i], wanted)) << static_cast<int>(encoding.type) << ": " << doubles[i];
        ASSERT_TRUE(same(floats[i], static_cast<float>(wanted))) << static_cast<int>(encoding.type);
      }
      if (is_real(encoding)) continue;
      const auto wide = decoded<std::int64_t>(encoding, page, elements, Dtype::i8);
      const auto narrow = decoded<std::uint16_t>(encoding, page, elements, Dtype::u2);
      const auto flags = decoded<std::uint8_t>(encoding, page, elements, Dtype::b1);
      for (std::uint64_t i = 0; i < elements; ++i) {
        const std::int64_t wanted = integer(encoding, stored_bits(encoding, page, elements, i));
        ASSERT_EQ(wide[i], wanted) << static_cast<int>(encoding.type);
        ASSERT_EQ(narrow[i], static_cast<std::uint16_t>(wanted)) << static_cast<int>(encoding.type);
        ASSERT_EQ(flags[i], wanted != 0) << static_cast<int>(encoding.type);
      }
    }
  }
}

TEST(PageDecode, EndsAreCountedFromTheirBase) {
  for (const int code : {0x0E, 0x0F, 0x1A, 0x1B}) {
    const auto type = static_cast<std::uint16_t>(code);
    const std::uint16_t bits = type % 2 == 0 ? 32 : 64;
    const PageEncoding encoding = *page_encoding(type, bits, 0, 0);
    const std::uint64_t ends[] = {0, 3, 3, 300, 70'000};
    constexpr std::uint64_t kCount = std::size(ends);
    Bytes page(kCount * bits / 8);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const bool is_split = type >= 0x1A;
      const std::uint64_t stored = is_split && i > 0 ? ends[i] - ends[i - 1] : ends[i];
      for (unsigned byte = 0; byte < bits / 8u; ++byte)
        page[is_split ? byte * kCount + i : i * bits / 8 + byte] = static_cast<std::byte>(stored >> (8 * byte));
    }
    std::vector<std::int64_t> out(kCount);
    ASSERT_TRUE(decode_ends(encoding, page, kCount, 1000, std::as_writable_bytes(std::span(out))));
    EXPECT_EQ(out, (std::vector<std::int64_t>{1000, 1003, 1003, 1300, 71'000}));
  }
}

// Lists of random lengths; now and then one has a negative length.
TEST(PageDecode, EndsOfEveryCountAsTheSpecificationSays) {
  std::mt19937_64 random(2);
  for (const std::uint16_t type :
       {std::uint16_t{0x0E}, std::uint16_t{0x0F}, std::uint16_t{0x1A}, std::uint16_t{0x1B}}) {
    const PageEncoding encoding = *page_encoding(type, type % 2 == 0 ? 32 : 64, 0, 0);
    for (const std::uint64_t elements : counts(random)) {
      Bytes page = random_page(random, encoding, elements);
      // Small numbers: in a split page the first bytes, in others each end, which increase.
      for (std::uint64_t at = type >= 0x1A ? elements : 0; at < page.size(); ++at) page[at] = std::byte{0};
      for (std::uint64_t i = 0, end = 0; i < elements && type < 0x1A; ++i) {
        end += random() % 300;
        std::memcpy(page.data() + i * encoding.bits / 8, &end, 4);
      }
      if (type < 0x1A && elements > 1 && random() % 5 == 0) page[encoding.bits / 8] = std::byte{0};
      std::vector<std::int64_t> out(elements), wanted;
      bool rises = true;
      for (std::uint64_t i = 0, last = 0; i < elements; ++i) {
        const std::uint64_t stored = stored_bits(encoding, page, elements, i);
        const std::uint64_t end = type >= 0x1A ? last + stored : stored;
        rises &= end >= last;
        last = end;
        wanted.push_back(static_cast<std::int64_t>(end) + 7);
      }
      ASSERT_EQ(decode_ends(encoding, page, elements, 7, std::as_writable_bytes(std::span(out))).has_value(), rises);
      if (!rises) continue;
      ASSERT_EQ(out, wanted) << type << " " << elements;
    }
  }
}

TEST(PageDecode, VariantsOfEveryCountAsTheSpecificationSays) {
  std::mt19937_64 random(3);
  std::vector<std::int64_t> bases(125);
  for (std::int64_t& base : bases) base = static_cast<std::int64_t>(random() >> 8);
  for (const std::uint64_t elements : counts(random)) {
    const std::uint64_t tag_max = random() % 126;
    Bytes page(elements * 12), tags(elements);
    std::vector<std::int64_t> positions(elements);
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::uint64_t position = random() >> 8;
      const auto tag = static_cast<std::uint32_t>(random() % (tag_max + 1));
      std::memcpy(page.data() + i * 12, &position, 8);
      std::memcpy(page.data() + i * 12 + 8, &tag, 4);
    }
    ASSERT_TRUE(decode_switch(page, elements, bases, tags, std::as_writable_bytes(std::span(positions))));
    const PageEncoding whole{ColumnType::switch_, 96, 0, 0};
    ASSERT_EQ(page.size(), page_size(whole, elements));
    for (std::uint64_t i = 0; i < elements; ++i) {
      std::uint64_t position = 0;
      for (unsigned byte = 0; byte < 8; ++byte)
        position |= std::to_integer<std::uint64_t>(page[i * 12 + byte]) << (8 * byte);
      const auto tag = std::to_integer<std::uint64_t>(page[i * 12 + 8]);
      ASSERT_EQ(std::to_integer<std::uint64_t>(tags[i]), tag);
      ASSERT_EQ(positions[i], tag == 0 ? 0 : static_cast<std::int64_t>(position) + bases[tag - 1]);
    }
  }
}

TEST(PageDecode, ARealInAnIntegerIsWithoutItsFraction) {
  const PageEncoding encoding = *page_encoding(0x0D, 64, 0, 0);
  const auto as_integers = [&](auto type, std::vector<double> values) {
    const auto bytes = std::as_bytes(std::span(values));
    using Integer = decltype(type);
    constexpr Dtype kDtype = sizeof(Integer) == 1 ? (std::is_signed_v<Integer> ? Dtype::i1 : Dtype::u1)
                                                  : (std::is_signed_v<Integer> ? Dtype::i8 : Dtype::u8);
    return decoded<Integer>(encoding, Bytes(bytes.begin(), bytes.end()), values.size(), kDtype);
  };
  EXPECT_EQ(as_integers(std::int8_t{}, {127, 127.9, 128, -128, -128.9, -129, -0.5}),
            (std::vector<std::int8_t>{127, 127, 0, -128, -128, 0, 0}));
  EXPECT_EQ(as_integers(std::uint8_t{}, {255, 255.9, 256, -0.9, -1, INFINITY, NAN}),
            (std::vector<std::uint8_t>{255, 255, 0, 0, 0, 0, 0}));
  EXPECT_EQ(as_integers(std::int64_t{}, {-0x1p63, 0x1p63, 0x1.fffffffffffffp62}),
            (std::vector<std::int64_t>{INT64_MIN, 0, INT64_MAX - 1023}));
  EXPECT_EQ(as_integers(std::uint64_t{}, {0x1p64, 0x1.fffffffffffffp63}),
            (std::vector<std::uint64_t>{0, UINT64_MAX - 2047}));
}

TEST(PageDecode, EndsThatFallOrAreTooLargeAreDamaged) {
  const PageEncoding encoding = *page_encoding(0x0F, 64, 0, 0);
  std::vector<std::int64_t> out(2);
  const auto decode = [&](std::uint64_t a, std::uint64_t b, std::int64_t base) {
    const std::uint64_t page[] = {a, b};
    const auto done =
        decode_ends(encoding, std::as_bytes(std::span(page)), 2, base, std::as_writable_bytes(std::span(out)));
    return done ? "" : done.error().text;
  };
  EXPECT_EQ(decode(5, 5, 0), "");
  EXPECT_EQ(decode(5, 4, 0), "list offsets decrease at element 1: 4 after 5");
  EXPECT_EQ(decode(5, 4, 10), "list offsets decrease at element 1: 14 after 15");
  EXPECT_EQ(decode(5, UINT64_MAX, 0), "list offsets decrease at element 1: -1 after 5");
  EXPECT_EQ(decode(UINT64_MAX, 5, 0), "list offsets decrease at element 0: -1 after 0");
  EXPECT_NE(decode(5, INT64_MAX, 1), "");
}

TEST(PageDecode, AVariantSaysWhichItemOfWhichAlternative) {
  Bytes page(3 * 12);
  const auto put = [&](std::size_t i, std::uint64_t position, std::uint32_t tag) {
    std::memcpy(page.data() + 12 * i, &position, 8);
    std::memcpy(page.data() + 12 * i + 8, &tag, 4);
  };
  put(0, 4, 2);
  put(1, 9, 0);
  put(2, 0, 1);
  const std::int64_t bases[] = {100, 200};
  Bytes tags(3);
  std::vector<std::int64_t> positions(3);
  const auto decode = [&] {
    return decode_switch(page, 3, bases, tags, std::as_writable_bytes(std::span(positions))).has_value();
  };
  ASSERT_TRUE(decode());
  EXPECT_EQ(tags, (Bytes{std::byte{2}, std::byte{0}, std::byte{1}}));
  EXPECT_EQ(positions, (std::vector<std::int64_t>{204, 0, 100}));
  put(0, 4, 3);
  EXPECT_FALSE(decode());
  put(0, UINT64_MAX, 1);
  EXPECT_FALSE(decode());
}

TEST(PageDecode, APageOfAnotherSizeIsDamaged) {
  const PageEncoding encoding = *page_encoding(0x18, 32, 0, 0);
  std::vector<float> out(4);
  EXPECT_FALSE(decode_numbers(encoding, Bytes(15), 4, Dtype::f4, std::as_writable_bytes(std::span(out))));
  EXPECT_FALSE(page_encoding(0x1E, 8, 0, 0));
  EXPECT_FALSE(page_encoding(0x07, 31, 0, 0));
  EXPECT_FALSE(page_encoding(0x1D, 8, 0, INFINITY));
}

}  // namespace
}  // namespace tfile
