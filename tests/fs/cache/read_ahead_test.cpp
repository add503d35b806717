// SPDX-License-Identifier: Apache-2.0
#include "cache/read_ahead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "synthetic_streams.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;

constexpr std::uint64_t kMemory = 64 << 20;
constexpr std::int64_t kItems = 10;  // per chunk

ReadAhead::Advice note_chunk(ReadAhead& ahead, const tfile::StreamSet& set, tfile::StreamId stream,
                             std::uint32_t index) {
  const std::uint64_t size = kItems * sizeof(SyntheticStreams::Item);
  const ColumnRead read{stream, 0, sizeof(SyntheticStreams::Item), index * size, (index + 1) * size, index, index + 1};
  return ahead.note(read, set.extents(stream).value());
}

// Pages of an inner column end wherever they are full.
TEST(ReadAhead, AnEntryOfTwoChunksTakesBoth) {
  SyntheticStream inner = even_stream(3, kItems);
  inner.entries = {{0, 13}, {12, 20}, {19, 30}};
  const SyntheticStreams set({inner});
  const ReadAhead ahead(set, Prefetch::learn, kMemory);
  const auto chunks = [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint32_t> found;
    for (const ChunkKey key : ahead.of_sweep({.begin = 0, .end = 1, .entries = {begin, end}}))
      found.push_back(key.index);
    return found;
  };
  EXPECT_EQ(chunks(0, 12), (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(chunks(12, 13), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(chunks(13, 19), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(chunks(19, 20), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(chunks(11, 30), (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(chunks(30, 40).empty());
  EXPECT_EQ(tfile::first_chunk_behind(set, 0, 12), 0u);
  EXPECT_EQ(tfile::first_chunk_behind(set, 0, 19), 1u);
  EXPECT_EQ(tfile::first_chunk_behind(set, 0, 30), 3u);
}

// Each chunk shares its last entry with the next one.
TEST(ReadAhead, CompanionsOfSharedEntriesComeWhole) {
  SyntheticStream inner = even_stream(40, kItems);
  for (std::int64_t i = 0; i < 40; ++i) inner.entries.push_back({2 * i, 2 * i + 3});
  SyntheticStreams set({inner, inner});
  for (std::int64_t entry = 0; entry <= 80; entry += 2) set.clusters.push_back(entry);
  set.clusters.back() = 81;
  ReadAhead ahead(set, Prefetch::learn, kMemory);
  for (std::uint32_t index = 0; index < 6; ++index)
    for (const tfile::StreamId stream : {0, 1}) note_chunk(ahead, set, stream, index);
  const ReadAhead::Advice advice = note_chunk(ahead, set, 0, 6);
  ASSERT_TRUE(advice.companions);
  EXPECT_EQ(advice.entries.begin, 12);
  EXPECT_EQ(advice.entries.end, advice.own.empty() ? 15 : 2 * advice.own.back().index + 3);
  const std::vector<ChunkKey> keys = ahead.of_companions(0, {12, 15});
  const auto has = [&](std::uint32_t index) { return std::ranges::find(keys, ChunkKey{1, index}) != keys.end(); };
  EXPECT_FALSE(has(4));
  for (const std::uint32_t index : {5u, 6u, 7u}) EXPECT_TRUE(has(index)) << index;
}

TEST(ReadAhead, ChunksWithinOneEntryAreReadAheadInTheirOrder) {
  SyntheticStream inner = even_stream(12, kItems);
  inner.entries.assign(12, {1, 2});
  inner.entries.front() = {0, 2};
  inner.entries.back() = {1, 3};
  const SyntheticStreams set({inner});
  ReadAhead ahead(set, Prefetch::sequential, kMemory);
  std::vector<std::uint32_t> found;
  for (std::uint32_t index = 0; index < 6; ++index)
    for (const ChunkKey key : note_chunk(ahead, set, 0, index).own) found.push_back(key.index);
  ASSERT_FALSE(found.empty());
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i], found[i - 1] + 1);
  EXPECT_GT(found.back(), 5u);
}

// Nine clusters of one entry, and one of all others. If the entries were divided into equal parts, the first ones would
// be a single visit.
TEST(ReadAhead, ColumnsOfOneClusterAreUsedTogether) {
  SyntheticStreams set({even_stream(100, kItems), even_stream(100, kItems)});
  for (std::int64_t entry = 0; entry < 10; ++entry) set.clusters.push_back(entry);
  set.clusters.push_back(100);
  ReadAhead ahead(set, Prefetch::learn, kMemory);
  for (std::uint32_t entry = 0; entry < 6; ++entry)
    for (const tfile::StreamId stream : {0, 1}) note_chunk(ahead, set, stream, entry);
  ASSERT_TRUE(note_chunk(ahead, set, 0, 6).companions);
  const std::vector<ChunkKey> keys = ahead.of_companions(0, {6, 7});
  EXPECT_NE(std::ranges::find(keys, ChunkKey{1, 6}), keys.end());
}

// A set of four streams whose source is remote.
class OpenedColumns : public testing::Test {
 protected:
  OpenedColumns()
      : set_({even_stream(3, kItems), even_stream(3, kItems), even_stream(3, kItems), even_stream(3, kItems)}) {
    set_.source->told.starts_reads = true;
    set_.source->told.delay = std::chrono::milliseconds(20);
  }
  SyntheticStreams set_;
};

TEST_F(OpenedColumns, AreWantedWithTheFirstThatIsRead) {
  ReadAhead ahead(set_, Prefetch::learn, kMemory);
  for (const tfile::StreamId stream : {0, 1, 2}) ahead.note_open(stream);
  ahead.note_close(2);
  const ReadAhead::Advice advice = note_chunk(ahead, set_, 0, 1);
  EXPECT_EQ(advice.opened, (std::vector<tfile::StreamId>{1}));
  // The last chunks are small, so they come along.
  const std::vector<ChunkKey> wanted{{0, 1}, {0, 2}, {1, 1}, {1, 2}};
  EXPECT_EQ(ahead.of_opened(0, advice.opened, advice.entries), wanted);
  EXPECT_TRUE(note_chunk(ahead, set_, 1, 1).opened.empty());
}

TEST(OpenedColumnsOfLargeChunks, AreWantedForTheEntriesThatAreReadAlone) {
  const SyntheticStream large = even_stream(3, 40'000);
  SyntheticStreams set({large, large});
  const ReadAhead ahead(set, Prefetch::learn, kMemory);
  const tfile::StreamId other = 1;
  EXPECT_EQ(ahead.of_opened(0, {&other, 1}, {1, 2}), (std::vector<ChunkKey>{{1, 1}}));
}

TEST_F(OpenedColumns, AreNotGuessedAtNearOrWithoutLearning) {
  ReadAhead sequential(set_, Prefetch::sequential, kMemory);
  for (const tfile::StreamId stream : {0, 1}) sequential.note_open(stream);
  EXPECT_TRUE(note_chunk(sequential, set_, 0, 0).opened.empty());
  set_.source->told = {};
  ReadAhead near(set_, Prefetch::learn, kMemory);
  for (const tfile::StreamId stream : {0, 1}) near.note_open(stream);
  EXPECT_TRUE(note_chunk(near, set_, 0, 0).opened.empty());
}

TEST(OpenColumns, ThatAreManyAreNotTaken) {
  OpenColumns open;
  for (tfile::StreamId stream = 0; stream < 5; ++stream) open.open(stream);
  open.open(3);
  open.close(3);  // another file of it is open
  EXPECT_TRUE(open.take_unread(4).empty());
  open.read(0);
  open.close(9);
  EXPECT_EQ(open.take_unread(4), (std::vector<tfile::StreamId>{1, 2, 3, 4}));
  EXPECT_TRUE(open.take_unread(4).empty());
}

}  // namespace
}  // namespace tfilefs
