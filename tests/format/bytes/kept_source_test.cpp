// SPDX-License-Identifier: Apache-2.0
#include "bytes/kept_source.h"

#include <gtest/gtest.h>

#include <vector>

#include "format/source/watched_source.h"

namespace tfile {
namespace {

using Requests = std::vector<std::vector<ByteRange>>;

void expect_read(const Source& source, std::vector<ByteRange> ranges) {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::span<std::byte>> into;
  for (const ByteRange range : ranges) bytes.emplace_back(range.size);
  for (std::vector<std::byte>& one : bytes) into.push_back(one);
  ASSERT_TRUE(source.read(ranges, into));
  for (std::size_t i = 0; i < ranges.size(); ++i)
    for (std::size_t n = 0; n < ranges[i].size; ++n)
      ASSERT_EQ(bytes[i][n], test::WatchedSource::byte_at(ranges[i].begin + n)) << ranges[i].begin << " + " << n;
}

TEST(KeptSource, OnlyTheRestOfAReadIsRead) {
  const auto inner = std::make_shared<test::WatchedSource>(10'000);
  const KeptSource kept(inner, 1000, 500);
  expect_read(kept, {{1000, 100}, {3000, 100}, {5000, 0}});
  expect_read(kept, {{1020, 50}, {3000, 100}});
  expect_read(kept, {{950, 100}, {2900, 300}});
  EXPECT_EQ(inner->requests(), (Requests{{{1000, 100}, {3000, 100}}, {{950, 50}, {2900, 100}, {3100, 100}}}));
}

TEST(KeptSource, LargeRangesAreNotKept) {
  const auto inner = std::make_shared<test::WatchedSource>(10'000);
  const KeptSource kept(inner, 1000, 500), keeps_none(inner, 1000, 0);
  for (int i = 0; i < 2; ++i) expect_read(kept, {{0, 501}});
  for (int i = 0; i < 2; ++i) expect_read(keeps_none, {{0, 10}});
  EXPECT_EQ(inner->requests(), (Requests{{{0, 501}}, {{0, 501}}, {{0, 10}}, {{0, 10}}}));
}

TEST(KeptSource, WhatTheSourceHasInMemoryIsNotKeptTwice) {
  const auto inner = std::make_shared<test::WatchedSource>(10'000);
  inner->set_traits({.begin_held = 100, .end_held = 100});
  const KeptSource kept(inner, 1000, 500);
  for (int i = 0; i < 2; ++i) expect_read(kept, {{0, 100}, {9900, 100}, {200, 10}});
  EXPECT_EQ(inner->requests(), (Requests{{{0, 100}, {9900, 100}, {200, 10}}, {{0, 100}, {9900, 100}}}));
}

// Of a line where a range more costs little, what comes of reads that are started together is kept by who asked.
TEST(KeptSource, ReadsStartedTogetherAreKeptWhereGapsAreReadThrough) {
  for (const bool has_gaps : {false, true}) {
    const auto inner = std::make_shared<test::WatchedSource>(10'000);
    inner->set_traits({.gap_free = has_gaps ? std::uint64_t{1} << 20 : 0});
    const KeptSource kept(inner, 1000, 500);
    std::size_t answers = 0;
    for (int i = 0; i < 2; ++i) {
      std::vector<std::byte> bytes(20);
      std::vector<Source::Started> reads;
      for (const std::uint64_t begin : {100u, 200u})
        reads.push_back({{{begin, 10}}, {std::span(bytes).first(10)}, [&](const Result<>& result) {
                           answers += result.has_value();
                         }});
      kept.start_reads(std::move(reads));
    }
    EXPECT_EQ(answers, 4u);
    EXPECT_EQ(inner->requests().size(), has_gaps ? 2u : 4u);
  }
}

TEST(KeptSource, ARangeBeyondTheEndIsLeftToTheSource) {
  const auto inner = std::make_shared<test::WatchedSource>(10'000);
  std::byte byte{}, other{};
  const ByteRange ranges[] = {{5, 1}, {10'000, 1}};
  const std::span<std::byte> into[] = {{&byte, 1}, {&other, 1}};
  const auto missing =
      missing_of(ranges, into, inner->size(), [](ByteRange, std::span<std::byte>) { return std::vector<ByteRange>(); });
  EXPECT_EQ(missing.ranges, (std::vector<ByteRange>{{10'000, 1}}));
}

}  // namespace
}  // namespace tfile
