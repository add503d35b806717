// SPDX-License-Identifier: Apache-2.0
#include "tfile/read_together.h"

#include <gtest/gtest.h>

#include "format/source/watched_source.h"

namespace tfile {
namespace {

using test::WatchedSource;

std::vector<WantedBytes> wanted(const Source& source, std::initializer_list<ByteRange> ranges) {
  std::vector<WantedBytes> all;
  for (const ByteRange range : ranges) all.push_back({&source, range});
  return all;
}

void expect_bytes(const WantedBytes& one) {
  ASSERT_TRUE(one.bytes) << one.bytes.error().text;
  ASSERT_EQ(one.bytes->size(), one.range.size);
  for (std::size_t i = 0; i < one.range.size; ++i)
    ASSERT_EQ((*one.bytes)[i], WatchedSource::byte_at(one.range.begin + i)) << one.range.begin << " + " << i;
}

TEST(ReadTogether, NeighboursAreOneRangeWhateverTheirOrder) {
  const WatchedSource source(1 << 20);
  auto all = wanted(source, {{500'000, 100}, {3000, 50}, {1000, 2000}, {1500, 20}, {7000, 0}});
  const auto memory = read_together(all);
  for (const WantedBytes& one : all) expect_bytes(one);
  EXPECT_EQ(source.requests(), (std::vector<std::vector<ByteRange>>{{{1000, 2050}, {500'000, 100}}}));
}

TEST(ReadTogether, RequestsKeepToTheTraits) {
  WatchedSource source(1 << 20);
  source.set_traits({.request_max = 300, .ranges_max = 2});
  auto all = wanted(source, {{0, 100}, {100'000, 100}, {200'000, 100}, {300'000, 250}, {400'000, 250}});
  const auto memory = read_together(all);
  for (const WantedBytes& one : all) expect_bytes(one);
  EXPECT_EQ(source.requests(), (std::vector<std::vector<ByteRange>>{
                                   {{0, 100}, {100'000, 100}}, {{200'000, 100}}, {{300'000, 250}}, {{400'000, 250}}}));
}

TEST(ReadTogether, WhatCannotBeReadTakesNothingElseWithIt) {
  WatchedSource source(1 << 20);
  source.fail_at(2000);
  auto all = wanted(source, {{1000, 100}, {1990, 100}, {3000, 100}, {(1 << 20) - 10, 11}, {UINT64_MAX, 2}});
  const auto memory = read_together(all);
  expect_bytes(all[0]);
  expect_bytes(all[2]);
  ASSERT_FALSE(all[1].bytes);
  EXPECT_EQ(all[1].bytes.error().kind, ErrorKind::io);
  for (const std::size_t beyond : {3, 4}) {
    ASSERT_FALSE(all[beyond].bytes);
    EXPECT_EQ(all[beyond].bytes.error().kind, ErrorKind::damaged);
  }
}

}  // namespace
}  // namespace tfile
