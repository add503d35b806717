// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cache/cluster_cache.h"
#include "fs/cache/synthetic_streams.h"
#include "wait_until.h"

namespace tfilefs {
namespace {

constexpr std::uint64_t kRead = 128 << 10;

struct CountsRig {
  explicit CountsRig(std::vector<SyntheticStream> streams, std::uint64_t memory = 64 << 20)
      : set(std::make_shared<SyntheticStreams>(std::move(streams))),
        cache(std::make_unique<ClusterCache>(CacheOptions{.memory = memory, .threads = 2, .io_threads = 2})),
        column(cache->attach(set, {"/t", 1})) {}
  TableReport table() const { return cache->report(true).reading.tables.at(0); }
  void read_all(tfile::StreamId stream) {
    const auto bytes = static_cast<std::uint64_t>(set->length(stream)) * 4;
    for (std::uint64_t offset = 0; offset < bytes; offset += kRead)
      ASSERT_EQ(*read_bytes(*column, stream, offset, kRead), expected_bytes(*set, stream, offset, kRead));
  }
  // Waits until nothing is loading any more: a prefetch may still run after the last answer.
  void settle() const {
    std::uint64_t before = 0, now = 0;
    do {
      before = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      now = table().counts[Count::chunks_decoded];
    } while (before != now);
  }
  std::shared_ptr<SyntheticStreams> set;
  std::unique_ptr<ClusterCache> cache;
  std::shared_ptr<CachedStreams> column;
};

TEST(ClusterCounts, AScanIsCountedOnce) {
  CountsRig rig({even_stream(100, 5000)});  // 2 MB in chunks of 20 kB
  rig.read_all(0);
  rig.settle();
  const ReadCounts counts = rig.table().counts;
  EXPECT_EQ(counts[Count::hits] + counts[Count::misses], 16u);
  EXPECT_EQ(counts[Count::bytes_asked], 2'000'000u);
  EXPECT_EQ(counts[Count::chunks_decoded], 100u);
  EXPECT_EQ(counts[Count::bytes_decoded], 2'000'000u);
  EXPECT_EQ(counts[Count::bytes_read], rig.set->source->bytes_read);
  EXPECT_EQ(counts[Count::bytes_read], 2'000'000u + 100 * SyntheticStreams::kHeader);
  EXPECT_GE(counts[Count::read_calls], rig.set->source->calls);
  EXPECT_EQ(counts[Count::chunks_ahead_used], counts[Count::chunks_ahead]);
  EXPECT_EQ(counts[Count::chunks_ahead_lost], 0u);
  EXPECT_EQ(counts.extra_bytes(), 0u);
  EXPECT_GT(counts[Count::disk_ns], 0u);
  EXPECT_GT(counts[Count::decode_ns], 0u);
  EXPECT_GT(counts[Count::wait_ns], 0u);
}

TEST(ClusterCounts, WhatIsReadThroughIsExtra) {
  SyntheticStream stream = even_stream(10, 1000);
  stream.stored_gap = 1000;
  CountsRig rig({stream});
  ASSERT_TRUE(read_bytes(*rig.column, 0, 0, 40'000));
  rig.settle();
  const ReadCounts counts = rig.table().counts;
  EXPECT_EQ(counts[Count::gap_bytes], 9'000u);
  EXPECT_EQ(counts.extra_bytes(), 9'000u);
  EXPECT_EQ(counts[Count::read_calls], 1u);
}

TEST(ClusterCounts, WhatNobodyCameForIsExtraUntilSomebodyComes) {
  CountsRig rig({even_stream(100, 5000)});
  for (std::uint64_t offset = 0; offset < 6 * kRead; offset += kRead)
    ASSERT_TRUE(read_bytes(*rig.column, 0, offset, kRead));
  rig.settle();
  ReadCounts counts = rig.table().counts;
  ASSERT_GT(counts[Count::chunks_ahead], counts[Count::chunks_ahead_used]);
  const std::uint64_t chunk = 20'000 + SyntheticStreams::kHeader;
  EXPECT_EQ(counts.extra_bytes(), (counts[Count::chunks_ahead] - counts[Count::chunks_ahead_used]) * chunk);
  rig.read_all(0);
  rig.settle();
  EXPECT_EQ(rig.table().counts.extra_bytes(), 0u);
}

TEST(ClusterCounts, WhatLeavesUnusedIsLost) {
  CountsRig rig({even_stream(100, 5000)});
  for (std::uint64_t offset = 0; offset < 6 * kRead; offset += kRead)
    ASSERT_TRUE(read_bytes(*rig.column, 0, offset, kRead));
  rig.settle();
  const ReadCounts before = rig.table().counts;
  rig.column.reset();
  EXPECT_TRUE(wait_until([&] { return !rig.table().set; }));  // the task that answered may still hold the set
  const TableReport after = rig.table();
  EXPECT_EQ(after.counts[Count::chunks_ahead_lost], before[Count::chunks_ahead] - before[Count::chunks_ahead_used]);
  EXPECT_EQ(after.counts[Count::bytes_read], before[Count::bytes_read]);
}

TEST(ClusterCounts, EvictionsAndStreamsAreToldApart) {
  CountsRig rig({even_stream(50, 5000), even_stream(50, 5000)}, 300'000);
  rig.read_all(0);
  rig.read_all(1);
  rig.settle();
  const TableReport table = rig.table();
  ASSERT_EQ(table.streams.size(), 2u);
  EXPECT_GT(table.streams[0].second[Count::evictions], 0u);
  EXPECT_GE(table.streams[0].second[Count::bytes_read], 1'000'000u);
  EXPECT_EQ(table.counts[Count::bytes_decoded],
            table.streams[0].second[Count::bytes_decoded] + table.streams[1].second[Count::bytes_decoded]);
}

TEST(ClusterCounts, ManyReadersOfOneChunkJoinItsLoad) {
  CountsRig rig({even_stream(1, 5000)});
  rig.set->source->delay = std::chrono::milliseconds(50);
  std::vector<Answer<Slices>> answers(8);
  for (auto& answer : answers) rig.column->read(0, 0, 4, 0, 20'000, answer.reply());
  for (auto& answer : answers) ASSERT_TRUE(answer.wait());
  const ReadCounts counts = rig.table().counts;
  EXPECT_EQ(counts[Count::misses], 8u);
  EXPECT_EQ(counts[Count::joined_loads], 7u);
  EXPECT_EQ(counts[Count::chunks_decoded], 1u);
  EXPECT_GE(counts[Count::wait_ns], 8 * 40'000'000u);
}

}  // namespace
}  // namespace tfilefs
