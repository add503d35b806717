// SPDX-License-Identifier: Apache-2.0
#include "cache/count_registry.h"

#include <gtest/gtest.h>

#include <thread>

#include "fs/cache/synthetic_streams.h"

namespace tfilefs {
namespace {

std::shared_ptr<const tfile::StreamSet> some_set() {
  return std::make_shared<const SyntheticStreams>(std::vector{even_stream(1, 1)});
}

TEST(SetCounts, StreamsAreCountedByThemselvesAndTogether) {
  SetCounts counts;
  const std::vector<tfile::StreamId> streams{0, 1, 2, 3, 9999, 100'000};
  for (const tfile::StreamId stream : streams) counts.stream(stream).add(Count::hits, stream + 1);
  std::vector<tfile::StreamId> seen;
  counts.each_stream([&](tfile::StreamId stream, const ReadCounts& of) {
    EXPECT_EQ(of[Count::hits], stream + 1);
    seen.push_back(stream);
  });
  EXPECT_EQ(seen, streams);
  EXPECT_EQ(counts.total()[Count::hits], 1u + 2 + 3 + 4 + 10'000 + 100'001);
}

TEST(SetCounts, StreamsThatNobodyTellsApartAreCountedTogether) {
  SetCounts counts(false);
  for (const tfile::StreamId stream : {0, 1, 9999}) counts.stream(stream).add(Count::hits, stream + 1);
  counts.each_stream([](tfile::StreamId stream, const ReadCounts&) { ADD_FAILURE() << stream; });
  EXPECT_EQ(counts.total()[Count::hits], 1u + 2 + 10'000);
  EXPECT_EQ(counts.memory(), sizeof counts);
}

TEST(SetCounts, AReadOfSeveralStreamsIsOneCallAndItsGapsBelongToNone) {
  SetCounts counts;
  std::vector<SetCounts::Share> shares{{5, 100}, {2, 200}, {5, 300}};
  counts.add_reads(2, 1000, 6000, shares);
  const ReadCounts total = counts.total();
  EXPECT_EQ(total[Count::read_calls], 2u);
  EXPECT_EQ(total[Count::bytes_read], 1000u);
  EXPECT_EQ(total[Count::gap_bytes], 400u);
  EXPECT_EQ(total[Count::disk_ns], 6000u);
  EXPECT_EQ(total.extra_bytes(), 400u);
  EXPECT_EQ(counts.stream(5).now()[Count::bytes_read], 400u);
  EXPECT_EQ(counts.stream(5).now()[Count::read_calls], 1u);
  EXPECT_EQ(counts.stream(5).now()[Count::disk_ns], 4000u);
  EXPECT_EQ(counts.stream(2).now()[Count::disk_ns], 2000u);
}

TEST(SetCounts, ManyThreadsCountEverything) {
  SetCounts counts;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (tfile::StreamId stream = 0; stream < 1000; ++stream) counts.stream(stream).add(Count::misses, 1);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts.total()[Count::misses], 4000u);
}

TEST(CountRegistry, SumsOutliveTheTable) {
  CountRegistry registry;
  const auto set = some_set();
  const TableLabel first{"/a.root/t", 1}, second{"/a.root/t", 2};
  auto old_counts = registry.open(first, set);
  old_counts->stream(0).add(Count::hits, 1);
  auto new_counts = registry.open(second, set);
  new_counts->stream(0).add(Count::hits, 10);
  EXPECT_EQ(registry.report(true).total()[Count::hits], 11u);
  registry.close(first, old_counts.get());
  auto report = registry.report(true);
  ASSERT_EQ(report.tables.size(), 1u);
  EXPECT_EQ(report.tables[0].counts[Count::hits], 11u);
  EXPECT_EQ(report.tables[0].label.generation, 2u);
  EXPECT_EQ(report.tables[0].set, set);
  ASSERT_EQ(report.tables[0].streams.size(), 1u);
  EXPECT_EQ(report.tables[0].streams[0].second[Count::hits], 10u);
  registry.close(second, new_counts.get());
  report = registry.report(true);
  EXPECT_EQ(report.tables[0].counts[Count::hits], 11u);
  EXPECT_EQ(report.tables[0].set, nullptr);
  EXPECT_TRUE(report.tables[0].streams.empty());
}

TEST(CountRegistry, ForgetsTheTableUsedLeastRecentlyButNotItsCounts) {
  CountRegistry registry;
  const auto set = some_set();
  const TableLabel kept{"/kept", 1};
  const auto open = registry.open(kept, set);
  open->stream(0).add(Count::misses, 1);
  for (std::size_t i = 0; i < 2 * CountRegistry::kTablesMax; ++i) {
    const TableLabel label{"/" + std::to_string(i), i + 2};
    const auto counts = registry.open(label, set);
    counts->stream(0).add(Count::misses, 1);
    registry.close(label, counts.get());
  }
  const auto report = registry.report(false);
  EXPECT_EQ(report.tables.size(), CountRegistry::kTablesMax);
  EXPECT_EQ(report.tables_forgotten, CountRegistry::kTablesMax + 1);
  EXPECT_EQ(report.total()[Count::misses], 2 * CountRegistry::kTablesMax + 1);
  EXPECT_TRUE(std::any_of(report.tables.begin(), report.tables.end(),
                          [](const TableReport& table) { return table.label.path == "/kept"; }));
}

TEST(CountRegistry, OfManyThatAreLoadedSoManyAreTakenForDistinct) {
  CountRegistry registry;
  const auto set = some_set();
  std::vector<std::pair<TableLabel, std::shared_ptr<SetCounts>>> open;
  for (std::size_t i = 0; i < CountRegistry::kTablesMax + 50; ++i) {
    const TableLabel label{"/" + std::to_string(i), i + 1};
    open.emplace_back(label, registry.open(label, set));
  }
  const auto distinct = [&] {
    const auto report = registry.report(false);
    return static_cast<std::size_t>(std::count_if(report.tables.begin(), report.tables.end(),
                                                  [](const TableReport& table) { return table.is_distinct; }));
  };
  EXPECT_EQ(registry.report(false).tables.size(), CountRegistry::kTablesMax + 50);
  EXPECT_EQ(distinct(), CountRegistry::kTablesMax);
  for (const auto& [label, counts] : open) registry.close(label, counts.get());
  for (int i = 0; i < 100; ++i) {
    const TableLabel label{"/new" + std::to_string(i), 1000};
    registry.close(label, registry.open(label, set).get());
  }
  EXPECT_LE(distinct(), CountRegistry::kTablesMax);
}

TEST(CountRegistry, ObjectsAreCountedTogether) {
  CountRegistry registry;
  const auto set = some_set();
  const auto a = registry.open({}, set), b = registry.open({}, set);
  a->stream(0).add(Count::hits, 1);
  b->stream(0).add(Count::hits, 2);
  registry.close({}, a.get());
  const auto report = registry.report(true);
  EXPECT_TRUE(report.tables.empty());
  EXPECT_EQ(report.objects[Count::hits], 3u);
}

}  // namespace
}  // namespace tfilefs
