// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/column_sweep.h"

#include <gtest/gtest.h>

#include <random>

namespace tfilefs {
namespace {

using tfile::EntryRange;
using tfile::StreamId;

constexpr std::int64_t kEntries = 10'000;
constexpr StreamId kStreams = 10'000;
constexpr std::uint64_t kStored = 20'000;  // per stream: 200 MB in all

ColumnSweep sweep_of_wide_table(std::uint64_t window_max = 256 << 20) {
  return {[](StreamId) { return kStored; }, kStreams, window_max};
}

TEST(ColumnSweep, ReadingAllColumnsIsCoveredByAFewWindows) {
  ColumnSweep sweep = sweep_of_wide_table();
  StreamId covered = 0;
  int windows = 0;
  for (StreamId stream = 0; stream < kStreams; ++stream) {
    const auto advice = sweep.observe(stream, {0, kEntries}, kEntries);
    if (advice.begin == advice.end) continue;
    ++windows;
    EXPECT_GT(advice.begin, stream);
    EXPECT_TRUE(covered == 0 || advice.begin == covered) << "a hole";
    EXPECT_EQ(advice.entries, (EntryRange{0, kEntries}));
    covered = advice.end;
  }
  EXPECT_EQ(covered, kStreams);
  EXPECT_LE(windows, 4);
}

TEST(ColumnSweep, TwoColumnsSideBySideAreNoHabit) {
  ColumnSweep sweep([](StreamId) { return 1 << 20; }, kStreams, 256 << 20);
  for (const StreamId stream : {100u, 101u, 500u, 501u, 20u, 21u}) {
    const auto advice = sweep.observe(stream, {0, kEntries}, kEntries);
    EXPECT_EQ(advice.begin, advice.end);
  }
}

TEST(ColumnSweep, LargeColumnsAreLeftToTheirOwnReaders) {
  ColumnSweep sweep([](StreamId stream) { return stream < 8 ? 1u << 20 : 100u << 20; }, 16, 1 << 30);
  StreamId covered = 0;
  for (StreamId stream = 0; stream < 16; ++stream) {
    const auto advice = sweep.observe(stream, {0, kEntries}, kEntries);
    if (advice.begin != advice.end) covered = advice.end;
  }
  EXPECT_EQ(covered, 8u);
  // For a hundredth of the entries, there is little to load.
  ColumnSweep of_parts([](StreamId) { return 100u << 20; }, 16, 1 << 30);
  tfile::StreamId loaded = 0;
  for (StreamId stream = 0; stream < 16; ++stream) {
    const auto advice = of_parts.observe(stream, {0, kEntries / 100}, kEntries);
    if (advice.begin != advice.end) loaded = advice.end;
  }
  EXPECT_EQ(loaded, 16u);
}

TEST(ColumnSweep, RandomReadersAreLeftAlone) {
  ColumnSweep sweep([](StreamId) { return kStored; }, 1000, 256 << 20);
  std::mt19937 random(3);
  StreamId advised = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto advice = sweep.observe(static_cast<StreamId>(random() % 1000), {0, kEntries}, kEntries);
    advised += advice.end - advice.begin;
  }
  EXPECT_LT(advised, 5000u);
}

TEST(ColumnSweep, WhoWantsOnePartOfEachGetsThatPartOnly) {
  ColumnSweep sweep = sweep_of_wide_table();
  ColumnSweep::Advice advice;
  for (StreamId stream = 0; stream < 3; ++stream) advice = sweep.observe(stream, {4000, 4100}, kEntries);
  EXPECT_LT(advice.begin, advice.end);
  EXPECT_EQ(advice.entries, (EntryRange{4000, 4100}));
}

TEST(ColumnSweep, ReadsInPiecesAreOneTurn) {
  ColumnSweep sweep = sweep_of_wide_table();
  ColumnSweep::Advice advice;
  for (StreamId stream = 0; stream < 3; ++stream)
    for (std::int64_t entry = 0; entry < kEntries; entry += 1000) {
      const auto now = sweep.observe(stream, {entry, entry + 1000}, kEntries);
      if (now.begin < now.end) advice = now;
    }
  EXPECT_EQ(advice.entries, (EntryRange{0, kEntries}));
}

TEST(ColumnSweep, OfLargeColumnsNoMoreAreLoadedThanWereRead) {
  ColumnSweep sweep([](StreamId) { return 300'000; }, kStreams, 256 << 20);
  StreamId covered = 0;
  for (StreamId stream = 0; stream < 8; ++stream) {
    const auto advice = sweep.observe(stream, {0, kEntries}, kEntries);
    if (advice.begin < advice.end) covered = advice.end;
  }
  EXPECT_GE(covered, 8u);
  EXPECT_LE(covered, 16u);
}

// In the first round, some columns were read whole, so that the kernel has them. In the second round, only every third
// is requested.
TEST(ColumnSweep, TheNextRoundNeedsNoHabit) {
  ColumnSweep sweep = sweep_of_wide_table();
  for (StreamId stream = 0; stream < kStreams; ++stream) sweep.observe(stream, {0, 4000}, kEntries);
  for (const EntryRange entries : {EntryRange{4000, 7000}, EntryRange{7000, 10'000}}) {
    StreamId covered = 0;
    int windows = 0, missed = 0;
    for (StreamId block = 0; block < kStreams; block += 300)
      for (StreamId stream = block; stream < std::min(block + 100, kStreams); ++stream) {
        missed += stream >= covered;
        const auto advice = sweep.observe(stream, entries, kEntries);
        if (advice.begin == advice.end) continue;
        ++windows;
        EXPECT_EQ(advice.entries, entries);
        covered = advice.end;
      }
    EXPECT_LE(missed, 1);
    EXPECT_LE(windows, 4);
  }
}

TEST(ColumnSweep, TheWindowIsBounded) {
  ColumnSweep sweep = sweep_of_wide_table(1 << 20);
  for (StreamId stream = 0; stream < 1000; ++stream) {
    const auto advice = sweep.observe(stream, {0, kEntries}, kEntries);
    EXPECT_LE((advice.end - advice.begin) * kStored, 1u << 20);
  }
}

TEST(ColumnSweep, TwoReadersAtDifferentPlacesAreFollowed) {
  ColumnSweep sweep = sweep_of_wide_table();
  bool advised[2] = {};
  for (StreamId i = 0; i < 4; ++i)
    for (StreamId reader = 0; reader < 2; ++reader) {
      const auto advice = sweep.observe(reader * 5000 + i, {0, kEntries}, kEntries);
      advised[reader] |= advice.begin < advice.end;
    }
  EXPECT_TRUE(advised[0] && advised[1]);
}

}  // namespace
}  // namespace tfilefs
