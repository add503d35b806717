// SPDX-License-Identifier: Apache-2.0
#include "read_log.h"

#include <gtest/gtest.h>

#include <thread>

namespace tfilefs {
namespace {

using namespace std::chrono_literals;
using tfile::ByteRange;
using tfile::EntryRange;

const std::string kName = "a.root";
constexpr std::uint64_t kSize = 1'000'000;

void read(ReadLog& log, std::vector<ByteRange> ranges, const std::string& name = kName) {
  const auto end = ReadLog::Clock::now();
  log.note(name, kSize, ranges, end - 1ms, end, ReadFrom::disk);
}

TEST(ReadLog, TellsTheNewestReadFirst) {
  ReadLog log;
  read(log, {{100, 10}});
  read(log, {{500, 20}});
  const ReadLog::Report report = log.report();
  ASSERT_EQ(report.last.size(), 2u);
  EXPECT_EQ(report.reads, 2u);
  EXPECT_EQ(report.last[0].number, 2u);
  EXPECT_EQ(report.last[0].range, (ByteRange{500, 20}));
  EXPECT_EQ(report.last[0].took, 1ms);
  EXPECT_EQ(report.last[0].from, ReadFrom::disk);
  EXPECT_EQ(report.last[1].range, (ByteRange{100, 10}));
  EXPECT_LE(report.last[0].at + 1ms, report.now);
}

TEST(ReadLog, RangesThatAdjoinAreOneRead) {
  ReadLog log;
  read(log, {{0, 100}, {100, 200}, {300, 0}, {1000, 100}});
  const ReadLog::Report report = log.report();
  ASSERT_EQ(report.last.size(), 2u);
  EXPECT_EQ(report.last[1].range, (ByteRange{0, 300}));
  EXPECT_EQ(report.last[0].range, (ByteRange{1000, 100}));
  EXPECT_EQ(report.last[1].took, 750us);
  EXPECT_EQ(report.last[0].took, 250us);
  EXPECT_GE(report.last[0].at, report.last[1].at + 749us);
}

TEST(ReadLog, NothingIsReadByEmptyRanges) {
  ReadLog log;
  read(log, {});
  read(log, {{7, 0}});
  EXPECT_EQ(log.report().reads, 0u);
}

TEST(ReadLog, SeeksAreReadsThatBeginElsewhere) {
  ReadLog log;
  read(log, {{1000, 100}});
  read(log, {{1100, 50}});
  read(log, {{1200, 50}});
  read(log, {{0, 50}});
  const LoggedFile file = log.report().files.at(kName);
  EXPECT_EQ(file.reads, 4u);
  EXPECT_EQ(file.bytes, 250u);
  EXPECT_EQ(file.size, kSize);
  EXPECT_EQ(file.took, 4ms);
  EXPECT_EQ(file.seeks, 2u);
  EXPECT_EQ(file.bytes_between, 50u + 1250u);
}

TEST(ReadLog, KeepsTheLastReadsAndCountsAll) {
  ReadLog log;
  for (std::uint64_t i = 0; i < ReadLog::kReadsMax + 10; ++i) read(log, {{i * 10, 5}});
  const ReadLog::Report report = log.report();
  EXPECT_EQ(report.last.size(), ReadLog::kReadsMax);
  EXPECT_EQ(report.last.back().number, 11u);
  EXPECT_EQ(report.reads, ReadLog::kReadsMax + 10);
  EXPECT_EQ(report.files.at(kName).bytes, (ReadLog::kReadsMax + 10) * 5);
}

TEST(ReadLog, ForgetsTheFileThatWasNotReadForLongest) {
  ReadLog log;
  read(log, {{0, 1}}, "first");
  read(log, {{0, 1}}, "second");
  read(log, {{1, 1}}, "first");
  for (std::size_t i = 2; i < ReadLog::kFilesMax; ++i) read(log, {{0, 1}}, "other" + std::to_string(i));
  read(log, {{0, 1}}, "last");
  const ReadLog::Report report = log.report();
  EXPECT_EQ(report.files.size(), ReadLog::kFilesMax);
  EXPECT_TRUE(report.files.contains("first") && report.files.contains("last"));
  EXPECT_FALSE(report.files.contains("second"));
  EXPECT_EQ(report.last.size(), ReadLog::kFilesMax + 1);
  read(log, {{2, 1}}, "second");
  EXPECT_EQ(log.report().files.at("second").reads, 1u);
}

TEST(ReadLog, EntriesAreThoseOfAllChunksThatAReadBrought) {
  ReadLog log;
  read(log, {{0, 100}});
  read(log, {{0, 100}});
  read(log, {{200, 100}});
  log.note_entries(kName, 50, {300, 400});
  log.note_entries(kName, 0, {100, 200});
  log.note_entries(kName, 100, {0, 9000});
  log.note_entries(kName, 250, {});
  log.note_entries("b.root", 250, {0, 1});
  const ReadLog::Report report = log.report();
  EXPECT_EQ(report.last[0].entries, EntryRange());
  EXPECT_EQ(report.last[1].entries, (EntryRange{100, 400}));
  EXPECT_EQ(report.last[2].entries, EntryRange());
}

TEST(ReadLog, MayBeUsedByManyThreads) {
  ReadLog log;
  constexpr std::uint64_t kThreads = 4, kEach = 2000;
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        read(log, {{i, 1}}, std::to_string(t));
        log.note_entries(std::to_string(t), i, {0, 1});
        if (i % 500 == 0) {
          EXPECT_LE(log.report().last.size(), ReadLog::kReadsMax);
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  const ReadLog::Report report = log.report();
  EXPECT_EQ(report.reads, kThreads * kEach);
  for (std::uint64_t t = 0; t < kThreads; ++t) EXPECT_EQ(report.files.at(std::to_string(t)).reads, kEach);
}

}  // namespace
}  // namespace tfilefs
