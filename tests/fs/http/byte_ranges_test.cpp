// SPDX-License-Identifier: Apache-2.0
#include "http/byte_ranges.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

using Part = WantedBytes::Part;
using Spans = std::vector<FileSpan>;

Spans some_of(const char* header, std::uint64_t size = 100) {
  const WantedBytes wanted = wanted_bytes(header, size);
  EXPECT_EQ(wanted.part, Part::some) << header;
  return wanted.ranges;
}

TEST(ByteRanges, AreFromFirstToLast) {
  EXPECT_EQ(some_of("bytes=0-0"), (Spans{{0, 1}}));
  EXPECT_EQ(some_of("bytes=10-19"), (Spans{{10, 20}}));
  EXPECT_EQ(some_of("bytes=90-"), (Spans{{90, 100}}));
  EXPECT_EQ(some_of("bytes=90-1000"), (Spans{{90, 100}}));
  EXPECT_EQ(some_of("Bytes=99-99999999999999999999999"), (Spans{{99, 100}}));
}

TEST(ByteRanges, AreCountedFromTheEnd) {
  EXPECT_EQ(some_of("bytes=-1"), (Spans{{99, 100}}));
  EXPECT_EQ(some_of("bytes=-1000"), (Spans{{0, 100}}));
}

TEST(ByteRanges, MayBeSeveralInAnyOrder) {
  EXPECT_EQ(some_of("bytes=50-59, 0-9 ,-5"), (Spans{{50, 60}, {0, 10}, {95, 100}}));
  EXPECT_EQ(some_of("bytes=500-,7-7"), (Spans{{7, 8}}));
}

TEST(ByteRanges, BehindTheEndAreNone) {
  for (const char* header : {"bytes=100-", "bytes=100-200", "bytes=-0", "bytes=100-,200-"})
    EXPECT_EQ(wanted_bytes(header, 100).part, Part::none) << header;
  EXPECT_EQ(wanted_bytes("bytes=0-", 0).part, Part::none);
  EXPECT_EQ(wanted_bytes("bytes=-5", 0).part, Part::none);
}

TEST(ByteRanges, ThatAreNotUnderstoodAreTheWhole) {
  for (const char* header : {"", "bytes", "bytes=", "bytes=,", "items=0-1", "bytes=a-b", "bytes=5", "bytes=5-4",
                             "bytes=--5", "bytes=1-2-3", "bytes=0x1-2", "bytes=+1-2", "bytes= -", "bytes=1-2,x"})
    EXPECT_EQ(wanted_bytes(header, 100).part, Part::whole) << header;
}

TEST(ByteRanges, ThatAskForMoreThanTheFileAreTheWhole) {
  EXPECT_EQ(wanted_bytes("bytes=0-,0-", 100).part, Part::whole);
  std::string many = "bytes=0-0";
  for (int i = 0; i < 64; ++i) many += ",0-0";
  EXPECT_EQ(wanted_bytes(many, 100'000).part, Part::whole);
}

}  // namespace
}  // namespace tfilefs
