// SPDX-License-Identifier: Apache-2.0
#include "container/free_list.h"

#include <gtest/gtest.h>

#include "bytes/cursor.h"

namespace tfile {
namespace {

struct Segment {
  int version;
  std::int64_t first, last;
  bool operator==(const Segment&) const = default;
};

std::vector<Segment> read(const std::vector<std::byte>& list) {
  Cursor in(list);
  std::vector<Segment> segments;
  while (in.left() > 0) {
    Segment one{in.big<std::int16_t>("version"), 0, 0};
    const bool wide = one.version > 1000;
    one.first = wide ? in.big<std::int64_t>("first") : in.big<std::int32_t>("first");
    one.last = wide ? in.big<std::int64_t>("last") : in.big<std::int32_t>("last");
    segments.push_back(one);
  }
  EXPECT_FALSE(in.failed());
  return segments;
}

TEST(FreeList, EndsWithTheStretchBehindTheFile) {
  const ByteRange free[] = {{200, 50}, {400, 10}};
  EXPECT_EQ(read(encode_free_list(free, 1000)),
            (std::vector<Segment>{{1, 200, 249}, {1, 400, 409}, {1, 1000, 2'000'000'000}}));
}

TEST(FreeList, ItsEndLiesBehindTheFileAlsoAbove2GB) {
  EXPECT_EQ(read(encode_free_list({}, 1'999'999'999)), (std::vector<Segment>{{1, 1'999'999'999, 2'000'000'000}}));
  EXPECT_EQ(read(encode_free_list({}, 2'000'000'000)), (std::vector<Segment>{{1001, 2'000'000'000, 3'000'000'000}}));
  const ByteRange free[] = {{200, 50}, {2'500'000'000, 10}};
  EXPECT_EQ(read(encode_free_list(free, 7'000'000'001)),
            (std::vector<Segment>{
                {1, 200, 249}, {1001, 2'500'000'000, 2'500'000'009}, {1001, 7'000'000'001, 8'000'000'000}}));
}

TEST(FreeList, MarksOfALargeGapFollowEachOther) {
  for (const std::uint64_t size :
       {4ull, 100ull, 2'000'000'000ull, 2'000'000'003ull, 2'000'000'004ull, 9'999'999'999ull}) {
    std::uint64_t at = 777;
    for (const GapMark& mark : gap_marks({777, size})) {
      EXPECT_EQ(mark.address, at);
      EXPECT_LE(mark.length, -4);
      EXPECT_GE(mark.length, -2'000'000'000);
      at += static_cast<std::uint64_t>(-static_cast<std::int64_t>(mark.length));
    }
    EXPECT_EQ(at, 777 + size);
  }
}

}  // namespace
}  // namespace tfile
