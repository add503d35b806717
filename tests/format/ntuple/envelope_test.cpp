// SPDX-License-Identifier: Apache-2.0
#include "ntuple/envelope.h"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <cstring>
#include <regex>
#include <string>
#include <vector>

namespace tfile {
namespace {

using Bytes = std::vector<std::byte>;

template <class T>
void put(Bytes& to, T value) {
  const auto* p = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), p, p + sizeof value);
}

Bytes envelope_of(std::uint16_t type, const Bytes& payload) {
  Bytes bytes;
  put(bytes, std::uint64_t{type} | (payload.size() + 16) << 16);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  put(bytes, std::uint64_t{XXH3_64bits(bytes.data(), bytes.size())});
  return bytes;
}

TEST(Envelope, GivesWhatStandsBetweenPreambleAndChecksum) {
  Bytes payload;
  put(payload, std::uint32_t{42});
  const Bytes bytes = envelope_of(1, payload);
  auto opened = open_envelope(bytes, EnvelopeType::header);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->payload.size(), 4u);
  EXPECT_EQ(opened->payload.little<std::uint32_t>("number"), 42u);
}

TEST(Envelope, OfAnotherTypeLengthOrChecksumIsDamaged) {
  const Bytes whole = envelope_of(2, Bytes(100));
  EXPECT_FALSE(open_envelope(whole, EnvelopeType::header));
  EXPECT_TRUE(open_envelope(whole, EnvelopeType::footer));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] ^= std::byte{4};
    EXPECT_FALSE(open_envelope(damaged, EnvelopeType::footer)) << at;
    EXPECT_FALSE(open_envelope(std::span(whole).first(at), EnvelopeType::footer)) << at;
  }
}

TEST(Envelope, WithoutItsChecksumTellsBoth) {
  Bytes bytes = envelope_of(1, Bytes(4));
  bytes.back() ^= std::byte{0x80};
  const auto opened = open_envelope(bytes, EnvelopeType::header);
  ASSERT_FALSE(opened);
  std::smatch found;
  ASSERT_TRUE(std::regex_match(opened.error().text, found,
                               std::regex("checksum of the RNTuple envelope is 0x(.{16}), its bytes have 0x(.{16})")));
  EXPECT_EQ(std::stoull(found[1], nullptr, 16) ^ std::stoull(found[2], nullptr, 16), std::uint64_t{1} << 63);
}

TEST(EnvelopeFrame, IsPassedOverByItsSizeWhateverWasRead) {
  Bytes bytes;
  put(bytes, std::int64_t{8 + 6});
  put(bytes, std::uint16_t{7});
  put(bytes, std::uint32_t{9});  // a field of a later version
  put(bytes, std::int64_t{-(12 + 3)});
  put(bytes, std::uint32_t{3});
  bytes.resize(bytes.size() + 3, std::byte{1});
  put(bytes, std::uint8_t{77});
  Cursor in(bytes);
  EnvelopeFrame record = take_record(in, "record");
  EXPECT_EQ(record.body.little<std::uint16_t>("known"), 7);
  const EnvelopeFrame list = take_list(in, "list");
  EXPECT_EQ(list.items, 3u);
  EXPECT_EQ(list.body.size(), 3u);
  EXPECT_EQ(in.u1("behind"), 77);
  EXPECT_TRUE(in.finish());
}

TEST(EnvelopeFrame, ThatCannotBeFailsTheCursor) {
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{7}, std::int64_t{-11}, std::int64_t{100}, INT64_MIN,
                                  INT64_MAX, std::int64_t{-100}}) {
    Bytes bytes;
    put(bytes, size);
    bytes.resize(40);
    Cursor in(bytes);
    size < 0 ? take_list(in, "list") : take_record(in, "record");
    EXPECT_TRUE(in.failed()) << size;
  }
  Bytes many;
  put(many, std::int64_t{-20});
  put(many, std::uint32_t{9});  // more items than its 8 bytes can hold
  many.resize(40);
  Cursor in(many);
  EXPECT_EQ(take_list(in, "list").items, 0u);
  EXPECT_TRUE(in.failed());
}

TEST(Locator, MayBeLargeOrUnknown) {
  Bytes bytes;
  put(bytes, std::int32_t{100});
  put(bytes, std::uint64_t{5000});
  put(bytes, -static_cast<std::int32_t>(20 | 1 << 24));  // type 1
  put(bytes, std::uint64_t{1} << 40);
  put(bytes, std::uint64_t{6000});
  put(bytes, -static_cast<std::int32_t>(9 | 0x7e << 24));
  bytes.resize(bytes.size() + 5);
  put(bytes, std::uint8_t{77});
  Cursor in(bytes);
  EXPECT_EQ(take_locator(in, "plain").range, (ByteRange{5000, 100}));
  const BlockLocator large = take_locator(in, "large");
  EXPECT_TRUE(large.is_known);
  EXPECT_EQ(large.range, (ByteRange{6000, std::uint64_t{1} << 40}));
  EXPECT_FALSE(take_locator(in, "other").is_known);
  EXPECT_EQ(in.u1("behind"), 77);
  Bytes none;
  put(none, -static_cast<std::int32_t>(3 | 1 << 24));  // smaller than the locator itself
  none.resize(40);
  Cursor small(none);
  take_locator(small, "small");
  EXPECT_TRUE(small.failed());
}

TEST(FeatureFlags, NameTheFirstBitThatIsSet) {
  Bytes bytes;
  put(bytes, std::uint64_t{1} << 63);
  put(bytes, std::uint64_t{1} << 2);
  Cursor in(bytes);
  const auto checked = check_feature_flags(in);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::unsupported);
  EXPECT_NE(checked.error().text.find("bit 65 "), std::string::npos) << checked.error().text;
  const Bytes none(8);
  Cursor without(none);
  EXPECT_TRUE(check_feature_flags(without));
}

}  // namespace
}  // namespace tfile
