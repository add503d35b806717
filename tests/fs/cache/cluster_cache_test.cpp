// SPDX-License-Identifier: Apache-2.0
#include "cache/cluster_cache.h"

#include <gtest/gtest.h>

#include <future>

#include "cache/plans_under_way.h"
#include "exec/in_place.h"
#include "fs/cache/synthetic_streams.h"
#include "wait_until.h"

namespace tfilefs {
namespace {

using tfile::ItemsFrom;

CacheOptions options(std::uint64_t memory, Prefetch prefetch = Prefetch::learn) {
  return {.memory = memory, .threads = 2, .io_threads = 3, .prefetch = prefetch};
}

struct Rig {
  Rig(std::vector<SyntheticStream> streams, std::uint64_t memory = 64 << 20, Prefetch prefetch = Prefetch::learn)
      : set(std::make_shared<SyntheticStreams>(std::move(streams))),
        cache(std::make_unique<ClusterCache>(options(memory, prefetch))),
        column(cache->attach(set)) {}
  std::shared_ptr<SyntheticStreams> set;
  std::unique_ptr<ClusterCache> cache;
  std::shared_ptr<CachedStreams> column;
};

// Waits until all prefetched chunks have arrived.
void settle(const Rig& rig) {
  for (std::uint64_t before = ~0ull; before != rig.cache->counters().chunks_decoded;) {
    before = rig.cache->counters().chunks_decoded;
    rig.cache->exec().planner.finish();  // which may take long beside other programs
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    rig.cache->exec().coders.finish();
  }
}

TEST(ClusterCache, EveryOffsetReadsAsTheArray) {
  SyntheticStream uneven;
  uneven.items = {3, 0, 1, 17, 0, 0, 5, 100, 2};
  for (const ItemsFrom from : {ItemsFrom::metadata, ItemsFrom::headers, ItemsFrom::payloads}) {
    uneven.from = from;
    Rig s({uneven});
    const auto bytes = static_cast<std::uint64_t>(s.set->length(0)) * 4;
    for (std::uint64_t offset = 0; offset <= bytes + 2; ++offset)
      for (const std::size_t size : {1u, 4u, 7u, 64u, 1000u}) {
        const auto read = read_bytes(*s.column, 0, offset, size);
        ASSERT_TRUE(read) << read.error().text;
        ASSERT_EQ(*read, expected_bytes(*s.set, 0, offset, size)) << offset << " + " << size;
      }
    EXPECT_EQ(s.set->decodes_max(), 1u);
  }
}

TEST(ClusterCache, EmbeddedChunksNeedNoFetch) {
  SyntheticStream embedded = even_stream(4, 10);
  embedded.embedded = true;
  Rig s({embedded});
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 1000), expected_bytes(*s.set, 0, 0, 1000));
  EXPECT_EQ(s.cache->counters().read_calls, 0u);
}

TEST(ClusterCache, AThreadThatMayBlockReadsAndDecodesByItself) {
  Rig s({even_stream(4, 10)});
  std::promise<std::thread::id> answered;
  {
    const InPlace here;
    s.column->read(0, 0, 4, 0, 160, Reply<Slices>([&](const Result<Slices>& slices) {
                     EXPECT_TRUE(slices);
                     answered.set_value(std::this_thread::get_id());
                   }));
  }
  EXPECT_EQ(answered.get_future().get(), std::this_thread::get_id());
  EXPECT_FALSE(InPlace::is_on());
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 1000), expected_bytes(*s.set, 0, 0, 1000));
  EXPECT_EQ(s.set->decodes_max(), 1u);
}

// Every second chunk lies in another file.
class TwoFiles final : public SyntheticStreams {
 public:
  explicit TwoFiles(std::vector<SyntheticStream> streams) : SyntheticStreams(std::move(streams)) {
    std::vector<std::byte> bytes(source->size());
    const tfile::ByteRange whole{0, bytes.size()};
    const std::span<std::byte> into(bytes);
    EXPECT_TRUE(source->read(std::span(&whole, 1), std::span(&into, 1)));
    source->calls = source->bytes_read = 0;
    other = std::make_shared<MemorySource>(std::move(bytes));
  }
  Result<tfile::Locator> locate(tfile::ChunkKey key) const override {
    return moved(key, SyntheticStreams::locate(key));
  }
  Result<tfile::Locator> header_locator(tfile::ChunkKey key) const override {
    return moved(key, SyntheticStreams::header_locator(key));
  }

  std::shared_ptr<MemorySource> other;

 private:
  Result<tfile::Locator> moved(tfile::ChunkKey key, Result<tfile::Locator> locator) const {
    if (locator && key.index % 2 == 1) locator->source = other.get();
    return locator;
  }
};

TEST(ClusterCache, AStreamMayLieInTwoFiles) {
  for (const ItemsFrom from : {ItemsFrom::metadata, ItemsFrom::headers, ItemsFrom::payloads}) {
    SyntheticStream stream = even_stream(7, 100);
    stream.from = from;
    const auto set = std::make_shared<TwoFiles>(std::vector{stream});
    ClusterCache cache(options(64 << 20));
    const auto column = cache.attach(set);
    EXPECT_EQ(*length_of(*column, 0), 700);
    const auto read = read_bytes(*column, 0, 0, 10'000);
    ASSERT_TRUE(read) << read.error().text;
    EXPECT_EQ(*read, expected_bytes(*set, 0, 0, 10'000));
    EXPECT_GT(set->source->calls, 0u);
    EXPECT_GT(set->other->calls, 0u);
    EXPECT_EQ(set->decodes_max(), 1u);
  }
}

TEST(ClusterCache, OneOfTwoFilesFailsItsChunksAlone) {
  const auto set = std::make_shared<TwoFiles>(std::vector{even_stream(6, 100)});
  set->other->failing = true;
  ClusterCache cache(options(64 << 20, Prefetch::off));
  const auto column = cache.attach(set);
  for (std::uint64_t chunk = 0; chunk < 6; ++chunk) {
    const auto read = read_bytes(*column, 0, chunk * 400, 400);
    EXPECT_EQ(read.has_value(), chunk % 2 == 0) << chunk;
    if (read) {
      EXPECT_EQ(*read, expected_bytes(*set, 0, chunk * 400, 400));
    }
  }
  EXPECT_FALSE(read_bytes(*column, 0, 0, 2400));
  set->other->failing = false;
  EXPECT_EQ(*read_bytes(*column, 0, 0, 2400), expected_bytes(*set, 0, 0, 2400));
}

TEST(ClusterCache, AHitIsAnsweredOnTheSpot) {
  Rig s({even_stream(4, 1000)});
  ASSERT_TRUE(read_bytes(*s.column, 0, 0, 16000));
  Answer<Slices> answer;
  s.column->read(0, 0, 4, 5000, 100, answer.reply());
  EXPECT_TRUE(answer.is_there());
}

TEST(ClusterCache, SlicesAreTheChunksThemselves) {
  Rig s({even_stream(2, 1000)});
  ASSERT_TRUE(read_bytes(*s.column, 0, 0, 8000));
  Answer<Slices> one, two;
  s.column->read(0, 0, 4, 0, 8000, one.reply());
  s.column->read(0, 0, 4, 0, 8000, two.reply());
  const auto a = one.wait(), b = two.wait();
  ASSERT_EQ(a->pieces.size(), 2u);
  EXPECT_EQ(a->pieces[0].data(), b->pieces[0].data());
}

TEST(ClusterCache, SixteenReadersDecodeEachChunkOnce) {
  SyntheticStream counted = even_stream(64, 500);
  counted.input = 1;
  counted.from = ItemsFrom::headers;
  Rig s({counted, even_stream(64, 20)});
  s.set->decode_delay = std::chrono::microseconds(200);
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 16; ++t)
    readers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 60; ++i) {
        const std::uint64_t offset = t % 2 ? random() % 128000 : static_cast<std::uint64_t>(i) * 2000;
        const auto read = read_bytes(*s.column, 0, offset, 5000);
        if (!read || *read != expected_bytes(*s.set, 0, offset, 5000)) ++wrong;
      }
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(s.set->decodes_max(), 1u);
}

TEST(ClusterCache, ManyReadersShareATinyBudget) {
  // Chunks of 2000 bytes (4000 with their stored bytes) in a budget of 20 kB; each read needs up to four.
  SyntheticStream counted = even_stream(50, 500);
  counted.input = 1;
  Rig s({counted, even_stream(50, 20)}, 20'000);
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  std::atomic<std::uint64_t> most = 0;
  for (int t = 0; t < 8; ++t)
    readers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 200; ++i) {
        const std::uint64_t offset = random() % 100000;
        const auto read = read_bytes(*s.column, 0, offset, 1 + random() % 3000);
        if (!read || *read != expected_bytes(*s.set, 0, offset, read->size())) ++wrong;
        most = std::max<std::uint64_t>(most, s.cache->counters().budget_used);
      }
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(most, 20'000u);
  EXPECT_GT(s.cache->counters().evictions, 0u);
}

TEST(ClusterCache, AReadLargerThanTheBudgetRunsAlone) {
  Rig s({even_stream(20, 5000)}, 30'000);
  std::vector<std::thread> readers;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    readers.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::uint64_t offset = static_cast<std::uint64_t>((t * 7 + i * 3) % 12) * 20000;
        const auto read = read_bytes(*s.column, 0, offset, 100'000);
        if (!read || *read != expected_bytes(*s.set, 0, offset, 100'000)) ++wrong;
      }
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ClusterCache, PinnedBytesOutliveEvictionAndTheCache) {
  std::optional<Slices> kept;
  std::shared_ptr<SyntheticStreams> set;
  {
    Rig s({even_stream(20, 1000)}, 14'000);
    set = s.set;
    Answer<Slices> answer;
    s.column->read(0, 0, 4, 0, 4000, answer.reply());
    kept = *answer.wait();
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(read_bytes(*s.column, 0, static_cast<std::uint64_t>(i) * 4000, 100));
  }
  const auto piece = kept->pieces.at(0);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(piece.data()), piece.size()), expected_bytes(*set, 0, 0, 4000));
}

TEST(ClusterCache, DamageIsRememberedAndStaysLocal) {
  Rig s({even_stream(10, 1000)});
  s.set->bad_payload.insert({0, 5});
  for (int i = 0; i < 3; ++i) {
    const auto read = read_bytes(*s.column, 0, 5 * 4000 + 8, 16);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::damaged);
  }
  EXPECT_EQ(s.set->decodes_of(0, 5), 1u);
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 20000), expected_bytes(*s.set, 0, 0, 20000));
  EXPECT_EQ(*read_bytes(*s.column, 0, 24000, 20000), expected_bytes(*s.set, 0, 24000, 20000));
  EXPECT_EQ(*length_of(*s.column, 0), 10'000);
}

TEST(ClusterCache, AFailureOfTheStorageIsTriedAgain) {
  Rig s({even_stream(10, 1000)});
  s.set->source->failing = true;
  const auto read = read_bytes(*s.column, 0, 0, 100);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::io);
  s.set->source->failing = false;
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 100), expected_bytes(*s.set, 0, 0, 100));
}

// What is lost on the way is an error of those who wait for it, and of nobody else.
TEST(ClusterCache, AReadThatIsDroppedOrThrowsIsAnError) {
  for (const bool starts : {false, true}) {
    for (std::atomic<bool> MemorySource::*fault : {&MemorySource::throwing, &MemorySource::dropping}) {
      if (!starts && fault == &MemorySource::dropping) continue;
      Rig s({even_stream(10, 1000)});
      s.set->source->told.starts_reads = starts;
      (*s.set->source).*fault = true;
      EXPECT_FALSE(read_bytes(*s.column, 0, 0, 40'000)) << starts;
      EXPECT_FALSE(read_bytes(*s.column, 0, 100, 100)) << starts;
      (*s.set->source).*fault = false;
      EXPECT_EQ(*read_bytes(*s.column, 0, 0, 40'000), expected_bytes(*s.set, 0, 0, 40'000));
    }
  }
}

TEST(ClusterCache, ABadPlaceOnDiskFailsItsChunkAlone) {
  Rig s({even_stream(10, 1000)});
  s.set->source->bad_byte = s.set->place_of(0, 4).begin + 100;
  // All ten are fetched together; nine arrive.
  EXPECT_FALSE(read_bytes(*s.column, 0, 0, 40000));
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 16000), expected_bytes(*s.set, 0, 0, 16000));
  EXPECT_EQ(*read_bytes(*s.column, 0, 20000, 20000), expected_bytes(*s.set, 0, 20000, 20000));
  EXPECT_FALSE(read_bytes(*s.column, 0, 16000, 4));
}

TEST(ClusterCache, AChunkBeyondTheEndOfTheFileIsDamagedAlone) {
  Rig s({even_stream(10, 1000)});
  s.set->beyond.insert({0, 2});
  const auto read = read_bytes(*s.column, 0, 8000, 4);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::damaged);
  EXPECT_EQ(*read_bytes(*s.column, 0, 12000, 4000), expected_bytes(*s.set, 0, 12000, 4000));
}

TEST(ClusterCache, AChunkOfAnotherLengthThanCountedIsDamaged) {
  Rig s({even_stream(10, 1000)});
  s.set->short_by_one.insert({0, 3});
  const auto read = read_bytes(*s.column, 0, 12000, 4);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::damaged);
  EXPECT_EQ(*read_bytes(*s.column, 0, 16000, 4), expected_bytes(*s.set, 0, 16000, 4));
}

TEST(ClusterCache, DamagedInputsDamageWhatNeedsThem) {
  SyntheticStream counted = even_stream(4, 1000);
  counted.input = 1;
  Rig s({counted, even_stream(4, 10)});
  s.set->bad_payload.insert({1, 2});
  EXPECT_FALSE(read_bytes(*s.column, 0, 8000, 4));
  EXPECT_EQ(*read_bytes(*s.column, 0, 12000, 4), expected_bytes(*s.set, 0, 12000, 4));
}

TEST(ClusterCache, ExtentsEndAtALostChunkAndReadingReachesTheError) {
  for (const ItemsFrom from : {ItemsFrom::headers, ItemsFrom::payloads}) {
    SyntheticStream stream = even_stream(10, 100);
    stream.from = from;
    Rig s({stream});
    s.set->lost.insert({0, 6});
    EXPECT_EQ(*length_of(*s.column, 0), 601);
    EXPECT_EQ(*read_bytes(*s.column, 0, 0, 2400), expected_bytes(*s.set, 0, 0, 2400));
    const auto read = read_bytes(*s.column, 0, 2400, 4);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().kind, ErrorKind::damaged);
    EXPECT_FALSE(read_bytes(*s.column, 0, 2000, 404));
  }
}

TEST(ClusterCache, AFailureWhileCountingIsNotRemembered) {
  for (const ItemsFrom from : {ItemsFrom::headers, ItemsFrom::payloads}) {
    SyntheticStream stream = even_stream(10, 100);
    stream.from = from;
    Rig s({stream});
    s.set->source->failing = true;
    const auto length = length_of(*s.column, 0);
    ASSERT_FALSE(length);
    EXPECT_EQ(length.error().kind, ErrorKind::io);
    s.set->source->failing = false;
    EXPECT_EQ(*length_of(*s.column, 0), 1000);
  }
}

TEST(ClusterCache, ItemsAreCountedOnceWhoeverAsks) {
  SyntheticStream stream = even_stream(40, 100);
  stream.from = ItemsFrom::payloads;
  stream.input = 1;
  Rig s({stream, even_stream(40, 3)}, 100'000);
  s.set->source->delay = std::chrono::microseconds(500);
  std::vector<Answer<std::int64_t>> answers(10);
  for (auto& answer : answers) s.column->length(0, 0, answer.reply());
  for (auto& answer : answers) EXPECT_EQ(*answer.wait(), 4000);
  EXPECT_EQ(s.set->counted, 40u + 1u);  // including the extents of the input
}

TEST(ClusterCache, WhatWasDecodedToCountIsNotDecodedAgain) {
  SyntheticStream stream = even_stream(40, 100);
  stream.from = ItemsFrom::payloads;
  stream.counting_decodes = true;
  Rig s({stream}, 1'000'000);
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 16'000), expected_bytes(*s.set, 0, 0, 16'000));
  EXPECT_EQ(s.set->chunks_decoded(), 40u);
  EXPECT_EQ(s.set->decodes_max(), 1u);
  EXPECT_EQ(s.set->wrongly_placed, 0u);
  EXPECT_EQ(s.cache->counters().chunks_decoded, 40u);
}

TEST(ClusterCache, WhatWasDecodedToCountTakesHalfOfTheMemoryAtMost) {
  SyntheticStream stream = even_stream(200, 100);  // 80 kB of items in a budget of 100 kB
  stream.from = ItemsFrom::payloads;
  stream.counting_decodes = true;
  Rig s({stream}, 100'000);
  EXPECT_EQ(*length_of(*s.column, 0), 20'000);
  // The thread that answered gives the last batch back a moment later.
  EXPECT_TRUE(wait_until([&] { return s.cache->counters().budget_used <= 52'000u; }));
  EXPECT_GT(s.cache->counters().budget_used, 10'000u);
  for (std::uint64_t offset = 0; offset < 80'000; offset += 8'000)
    EXPECT_EQ(*read_bytes(*s.column, 0, offset, 8'000), expected_bytes(*s.set, 0, offset, 8'000));
  EXPECT_EQ(s.set->wrongly_placed, 0u);
}

TEST(ClusterCache, HeadersAreReadInFewCalls) {
  SyntheticStream stream = even_stream(500, 10);
  stream.from = ItemsFrom::headers;
  stream.stored_gap = 10'000;
  Rig s({stream});
  EXPECT_EQ(*length_of(*s.column, 0), 5000);
  EXPECT_EQ(s.set->source->calls, 1u);
  EXPECT_EQ(s.cache->counters().read_calls, 500u);  // the ranges of the vectored call are not adjacent
  EXPECT_LE(s.cache->counters().bytes_read, 500u * SyntheticStreams::kHeader);
}

TEST(ClusterCache, QuickLengthsNeedNoItems) {
  SyntheticStream plain = even_stream(10, 100), unknown = plain;
  plain.from = unknown.from = ItemsFrom::payloads;
  plain.quick = std::vector<std::int64_t>{1000};
  unknown.quick = std::vector<std::int64_t>{-1};
  Rig s({plain, unknown});
  EXPECT_EQ(s.column->known_length(0, 0), 1000);
  EXPECT_EQ(s.set->counted, 0u);
  Answer<std::optional<std::int64_t>> cheap;
  s.column->cheap_length(1, 0, cheap.reply());
  EXPECT_EQ(*cheap.wait(), std::nullopt);
  EXPECT_EQ(*length_of(*s.column, 1), 1000);
  EXPECT_EQ(s.column->known_length(1, 0), 1000);
  EXPECT_EQ(s.set->counted, 10u);
}

TEST(ClusterCache, ALengthOfAListTellsThoseWithTheSameCounter) {
  SyntheticStream list = even_stream(10, 100), like = list;
  list.from = like.from = ItemsFrom::headers;
  like.told_by = 0;
  Rig s({list, like});
  EXPECT_EQ(s.column->known_length(1, 0), std::nullopt);
  EXPECT_EQ(*length_of(*s.column, 0), 1000);
  EXPECT_EQ(s.column->known_length(1, 0), 1000);
  EXPECT_EQ(s.set->counted, 10u) << "all headers of the first";
}

TEST(ClusterCache, ASecondLengthBringsTheHeadersOfAllStreams) {
  SyntheticStream stream = even_stream(10, 100), like = stream;
  stream.from = like.from = ItemsFrom::headers;
  like.told_by = 7;
  std::vector<SyntheticStream> streams(100, stream);
  streams.resize(200, like);
  Rig s(streams);
  EXPECT_EQ(*length_of(*s.column, 50), 1000);
  EXPECT_EQ(s.set->source->calls, 1u);
  EXPECT_LT(s.set->source->bytes_read, 10 * 400u) << "the headers of one stream, and what lies between them";
  EXPECT_EQ(*length_of(*s.column, 51), 1000);
  EXPECT_EQ(s.set->source->calls, 2u);
  for (tfile::StreamId stream_id = 0; stream_id < 200; ++stream_id)
    EXPECT_EQ(s.column->known_length(stream_id, 0), 1000) << stream_id;
}

// A third one brings those of sixteen times as many; those of very long streams are read when these are asked for.
TEST(ClusterCache, ALengthBringsNoMoreHeadersThanAreReadTogether) {
  SyntheticStream stream = even_stream(100, 1), longest = even_stream(20'000, 1);
  stream.from = longest.from = ItemsFrom::headers;
  std::vector<SyntheticStream> streams(100, stream);
  streams.push_back(longest);
  Rig s(streams);
  const auto known = [&] {
    std::size_t count = 0;
    for (tfile::StreamId id = 0; id < streams.size(); ++id) count += s.column->known_length(id, 0).has_value();
    return count;
  };
  EXPECT_EQ(*length_of(*s.column, 0), 100);
  EXPECT_EQ(known(), 1u);
  EXPECT_EQ(*length_of(*s.column, 1), 100);
  EXPECT_EQ(known(), 11u);
  EXPECT_EQ(*length_of(*s.column, 90), 100);
  EXPECT_EQ(known(), 100u);
  EXPECT_EQ(*length_of(*s.column, 100), 20'000);
}

// A distant server that accepts eight ranges per request.
TEST(ClusterCache, ASourceSaysHowItIsRead) {
  const auto calls_with = [](tfile::SourceTraits traits) {
    SyntheticStream stream = even_stream(400, 5000);  // of 20 kB each...
    stream.stored_gap = 100'000;                      // ...with gaps of five times that between them
    Rig s({stream}, 256 << 20, Prefetch::off);
    s.set->source->told = traits;
    EXPECT_EQ(*read_bytes(*s.column, 0, 0, 4'000'000), expected_bytes(*s.set, 0, 0, 4'000'000));
    return std::pair(s.set->source->calls.load(), s.set->source->bytes_read.load());
  };
  const auto [near_calls, near_bytes] = calls_with({});
  const auto [narrow_calls, narrow_bytes] = calls_with({.ranges_max = 8});
  const auto [remote_calls, remote_bytes] = calls_with({.ranges_max = 8, .gap_free = 2 << 20});
  EXPECT_LT(near_bytes, 4'100'000u);
  EXPECT_EQ(narrow_bytes, near_bytes);
  EXPECT_EQ(narrow_calls, 25u);  // 200 ranges
  EXPECT_LE(remote_calls, 6u);   // 24 MB, with all gaps
  EXPECT_GT(remote_bytes, 20'000'000u);
  EXPECT_LE(near_calls, narrow_calls);
}

// A server that answers after 20 ms, takes eight ranges in a request, and is best asked three things at once.
TEST(ClusterCache, RequestsToARemoteSourceAreUnderWayAtOnce) {
  for (const std::uint64_t memory : {256u << 20, 4u << 20}) {
    SyntheticStream stream = even_stream(400, 5000);
    stream.stored_gap = 100'000;
    Rig s({stream}, memory, Prefetch::off);
    s.set->source->delay = std::chrono::milliseconds(20);
    s.set->source->told = {.request_max = 110'000, .ranges_max = 8, .requests_max = 3};
    EXPECT_EQ(*read_bytes(*s.column, 0, 0, 2'000'000), expected_bytes(*s.set, 0, 0, 2'000'000));
    EXPECT_EQ(s.set->source->calls, 20u) << "100 ranges of 20 kB and a header";
    EXPECT_EQ(s.set->source->most_at_once, 3u);
    s.set->source->failing = true;
    EXPECT_FALSE(read_bytes(*s.column, 0, 2'000'000, 2'000'000));
    s.set->source->failing = false;
    EXPECT_EQ(*read_bytes(*s.column, 0, 2'000'000, 2'000'000), expected_bytes(*s.set, 0, 2'000'000, 2'000'000));
  }
}

// A server whose answers may be long, and are told in parts.
tfile::SourceTraits remote_traits() {
  tfile::SourceTraits traits;
  traits.delay = std::chrono::milliseconds(20);
  traits.bytes_per_second = 10'000'000;
  traits.request_max = 64 << 20;
  traits.answer_bytes = 100'000;
  traits.gap_free = 0;
  traits.tells_changes = traits.starts_reads = true;
  return traits;
}

TEST(ClusterCache, ALongRequestIsDecodedInParts) {
  Rig s({even_stream(400, 5000)}, 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 4'000'000), expected_bytes(*s.set, 0, 0, 4'000'000));
  EXPECT_EQ(s.set->source->requests, 1u);
  EXPECT_GE(s.set->source->calls, 20u) << "parts";
  EXPECT_EQ(s.cache->counters().read_calls, 1u);
}

TEST(ClusterCache, ABadPartOfARequestTakesNoOtherWithIt) {
  Rig s({even_stream(400, 5000)}, 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  s.set->source->bad_byte = s.set->place_of(0, 150).begin + 20;
  EXPECT_FALSE(read_bytes(*s.column, 0, 0, 4'000'000));
  EXPECT_EQ(*read_bytes(*s.column, 0, 0, 1'000'000), expected_bytes(*s.set, 0, 0, 1'000'000));
  EXPECT_EQ(s.set->source->requests, 1u);
  EXPECT_EQ(s.cache->counters().chunks_decoded, 192u) << "of 200, eight are a part";
}

TEST(ClusterCache, ColumnsOfAServerThatAreOpenComeWithTheRead) {
  Rig s(std::vector<SyntheticStream>(20, even_stream(10, 100)));
  s.set->source->told = remote_traits();
  for (tfile::StreamId stream = 0; stream < 20; ++stream) s.column->note_open(stream);
  for (tfile::StreamId stream = 0; stream < 20; ++stream)
    EXPECT_EQ(*read_bytes(*s.column, stream, 400, 40), expected_bytes(*s.set, stream, 400, 40));
  EXPECT_EQ(s.set->source->requests, 1u);
}

// The answer to one request is told at once: a read does not wait for what will be wanted, if that is much.
TEST(ClusterCache, AReadDoesNotWaitForMuchMore) {
  for (const std::int64_t items : {100, 50'000}) {
    Rig s(std::vector<SyntheticStream>(4, even_stream(1, items)));
    s.set->source->told = remote_traits();
    s.set->source->told.request_max = s.set->source->told.answer_bytes = 8'000'000;
    for (tfile::StreamId stream = 0; stream < 4; ++stream) s.column->note_open(stream);
    EXPECT_TRUE(read_bytes(*s.column, 0, 0, 40));
    EXPECT_TRUE(wait_until([&] { return s.cache->counters().chunks_decoded >= 4; }));
    EXPECT_EQ(s.set->source->requests, items == 100 ? 1u : 2u);
    EXPECT_EQ(s.cache->counters().chunks_decoded, 4u);
  }
}

TEST(ClusterCache, ColumnAfterColumnOfAServerTakesFewRequests) {
  Rig s(std::vector<SyntheticStream>(2000, even_stream(2, 500)), 1 << 30);  // 8 MB
  s.set->source->told = remote_traits();
  for (tfile::StreamId stream = 0; stream < 2000; ++stream)
    ASSERT_EQ(*read_bytes(*s.column, stream, 0, 4000), expected_bytes(*s.set, stream, 0, 4000));
  EXPECT_LE(s.set->source->requests, 4u);
  EXPECT_EQ(s.set->source->bytes_read, 2000u * 2 * (SyntheticStreams::kHeader + 2000));
}

TEST(ClusterCache, HeadersOfAServerComeWithTheFirstBytes) {
  SyntheticStream list = even_stream(20, 5000), counter = even_stream(20, 5000);
  list.from = ItemsFrom::headers;
  list.input = 1;
  list.stored_gap = 10'000;
  Rig s({list, counter}, 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  EXPECT_EQ(*length_of(*s.column, 0), 100'000);
  EXPECT_EQ(s.set->source->calls, 1u);
  const std::uint64_t payload = s.set->source->bytes_read - 20u * SyntheticStreams::kHeader;
  EXPECT_GT(payload, 2u * 300'000) << "of the list and its counter";
  EXPECT_LE(payload, 2u * 400'000) << "two round trips of the list";
}

// As a program does that is told a name before its size is known.
TEST(ClusterCache, HeadersOfAServerThatAreUnderWayAreNotAskedForAgain) {
  SyntheticStream list = even_stream(20, 500);
  list.from = ItemsFrom::headers;
  Rig s({list}, 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  std::promise<void> line;
  s.set->source->gate = line.get_future().share();
  Answer<std::int64_t> first, second;
  s.column->length(0, 0, first.reply());
  while (s.set->source->under_way == 0) std::this_thread::yield();
  s.column->length(0, 0, second.reply());
  auto read = std::async(std::launch::async, [&] { return read_bytes(*s.column, 0, 0, 40'000); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(s.set->source->calls, 1u);
  line.set_value();
  EXPECT_EQ(*first.wait(), 10'000);
  EXPECT_EQ(*second.wait(), 10'000);
  EXPECT_EQ(*read.get(), expected_bytes(*s.set, 0, 0, 40'000));
}

TEST(ClusterCache, FurtherLengthsOfAServerBringHeadersAlone) {
  SyntheticStream list = even_stream(4, 100);
  list.from = ItemsFrom::headers;
  Rig s(std::vector<SyntheticStream>(3000, list), 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  const auto known = [&] {
    std::size_t count = 0;
    for (tfile::StreamId stream = 0; stream < 3000; ++stream) count += s.column->known_length(stream, 0).has_value();
    return count;
  };
  EXPECT_EQ(*length_of(*s.column, 500), 400);
  EXPECT_EQ(known(), 256u) << "with 1024 headers";
  EXPECT_TRUE(s.column->known_length(501, 0)) << "those behind it first";
  EXPECT_EQ(*length_of(*s.column, 300), 400);
  EXPECT_EQ(known(), 3000u);
  EXPECT_EQ(s.set->source->calls, 2u);
  const std::uint64_t column = 4u * (SyntheticStreams::kHeader + 400);
  EXPECT_LE(s.set->source->bytes_read, 2 * column + 4 * 3000 * SyntheticStreams::kHeader);
}

// What a listing asks for one after the other comes with the first, unless it is much.
TEST(ClusterCache, PayloadsThatTellLengthsOfAServerAreAskedForTogether) {
  SyntheticStream small = even_stream(2, 100), large = even_stream(2, 50'000);
  small.from = large.from = ItemsFrom::payloads;
  Rig s({small, small, small, large}, 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  for (const tfile::StreamId stream : {0, 1, 2}) EXPECT_EQ(*length_of(*s.column, stream), 200);
  EXPECT_EQ(s.set->source->calls, 1u);
  EXPECT_EQ(*length_of(*s.column, 3), 100'000);
  EXPECT_GT(s.set->source->calls, 1u);
  for (const tfile::StreamId stream : {0, 1, 2})
    EXPECT_EQ(*read_bytes(*s.column, stream, 0, 800), expected_bytes(*s.set, stream, 0, 800));
}

// A stream beside that cannot be counted takes nothing from the one that was asked for.
TEST(ClusterCache, AFailureBesideLeavesTheLengthThatWasAskedFor) {
  SyntheticStream small = even_stream(2, 100);
  small.from = ItemsFrom::payloads;
  Rig s({small, small}, 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  s.set->bad_payload.insert({1, 1});
  EXPECT_EQ(*length_of(*s.column, 0), 200);
  EXPECT_EQ(*length_of(*s.column, 1), 101) << "up to the first item that is damaged";
}

TEST(ClusterCache, ManyExtentsOfAServerAreAskedForTogether) {
  SyntheticStream list = even_stream(30, 100);
  list.from = ItemsFrom::headers;
  Rig s(std::vector<SyntheticStream>(64, list), 256 << 20, Prefetch::off);
  s.set->source->told = remote_traits();
  for (tfile::StreamId stream = 0; stream < 64; ++stream) EXPECT_EQ(*length_of(*s.column, stream), 3000);
  EXPECT_LE(s.set->source->calls, 2u);
}

TEST(ClusterCache, ARemoteSourceIsReadFurtherAhead) {
  for (const auto delay : {std::chrono::milliseconds(0), std::chrono::milliseconds(100)}) {
    Rig s({even_stream(4000, 5000)}, 1 << 30, Prefetch::sequential);  // 80 MB
    s.set->source->told = {.delay = delay, .bytes_per_second = 200'000'000};
    for (std::uint64_t offset = 0; offset < 24 << 20; offset += 1 << 20)
      ASSERT_TRUE(read_bytes(*s.column, 0, offset, 1 << 20));
    const std::uint64_t ahead = s.cache->report(false).reading.total()[Count::chunks_ahead];
    if (delay.count() == 0)
      EXPECT_LT(ahead, 1750u);  // up to 32 MB, and a little more
    else
      EXPECT_GT(ahead, 2000u);  // that much more than was read: 40 MB may be under way
  }
}

TEST(ClusterCache, ASequentialReaderFindsItsNextChunksLoaded) {
  Rig s({even_stream(400, 5000)});  // 8 MB in chunks of 20 kB
  std::uint64_t misses_late = 0;
  for (std::uint64_t offset = 0; offset < 8'000'000; offset += 128 << 10) {
    if (offset > 4'000'000 && misses_late == 0) misses_late = s.cache->counters().misses;
    ASSERT_EQ(*read_bytes(*s.column, 0, offset, 128 << 10), expected_bytes(*s.set, 0, offset, 128 << 10));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(s.cache->counters().misses, misses_late);
  EXPECT_EQ(s.set->decodes_max(), 1u);
  EXPECT_LT(s.cache->counters().read_calls, 60u);
}

TEST(ClusterCache, ARandomReaderPaysForItsChunksAlone) {
  Rig s({even_stream(1000, 5000)});
  std::set<std::uint64_t> touched;
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t offset = random() % 1000 * 20000 + random() % 15000;
    ASSERT_TRUE(read_bytes(*s.column, 0, offset, 4096));
    touched.insert(offset / 20000);
  }
  s.cache.reset();
  EXPECT_LE(s.set->chunks_decoded(), touched.size() + 3);
}

// 64 chunks of 100 items in each of 300 streams. The chunks of a stream are adjacent, as in a file that was flushed
// once.
std::vector<SyntheticStream> wide_table() { return std::vector<SyntheticStream>(300, even_stream(64, 100)); }

TEST(ClusterCache, ColumnAfterColumnIsReadInFewCalls) {
  for (const Prefetch prefetch : {Prefetch::learn, Prefetch::off}) {
    Rig s(wide_table(), 256 << 20, prefetch);
    for (tfile::StreamId stream = 0; stream < 300; ++stream) {
      ASSERT_EQ(*read_bytes(*s.column, stream, 0, 1 << 20), expected_bytes(*s.set, stream, 0, 1 << 20));
      if (stream % 10 == 0) settle(s);
    }
    EXPECT_EQ(s.set->decodes_max(), 1u);
    if (prefetch == Prefetch::learn)
      EXPECT_LT(s.cache->counters().read_calls, 30u);
    else
      EXPECT_EQ(s.cache->counters().read_calls, 300u);
  }
}

// Reads most of each column, then the rest. In every tenth column, the rest begins inside the first chunk. In the
// others, the first chunk was read whole, so the kernel has it, and the cache does not.
TEST(ClusterCache, WhatTheKernelHasIsNotLoadedOnAGuess) {
  std::vector<SyntheticStream> streams(300);
  for (std::size_t i = 0; i < streams.size(); ++i) streams[i].items = {i % 10 == 5 ? 5100 : 5000, 100};
  Rig s(std::move(streams), 8 << 20);
  const auto read_all = [&](std::uint64_t begin, std::uint64_t size) {
    for (tfile::StreamId stream = 0; stream < 300; ++stream) {
      Answer<Slices> answer;
      s.column->read(stream, 0, 4, begin, size, {.handed_over = true}, answer.reply());
      ASSERT_TRUE(answer.wait());
      if (stream % 10 == 0) settle(s);
    }
  };
  read_all(0, 20'100);
  EXPECT_GT(s.cache->report(false).reading.total()[Count::evictions], 100u);
  read_all(20'100, 1000);
  EXPECT_EQ(s.set->decodes_max(), 1u);
}

// Planning the window of a sweep takes a while. A read of chunks in that window waits for the plan, and fetches nothing
// itself.
TEST(ClusterCache, AReadWaitsForThePlanThatWillLoadItsChunk) {
  Rig s(wide_table(), 256 << 20);
  constexpr tfile::StreamId kSlow = 40, kRead = 30;
  std::promise<void> planning, go_on;
  s.set->looked_at = [&, released = go_on.get_future().share(),
                      once = std::make_shared<std::once_flag>()](tfile::StreamId stream) {
    if (stream != kSlow) return;
    std::call_once(*once, [&] { planning.set_value(); });
    released.wait();
  };
  for (tfile::StreamId stream = 0; stream < 3; ++stream) ASSERT_TRUE(read_bytes(*s.column, stream, 0, 400));
  planning.get_future().wait();

  const std::uint64_t calls = s.set->source->calls;
  Answer<Slices> answer;
  s.column->read(kRead, 0, sizeof(SyntheticStreams::Item), 0, 400, answer.reply());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(answer.is_there());
  EXPECT_EQ(s.set->source->calls, calls);
  go_on.set_value();
  const auto slices = answer.wait();
  ASSERT_TRUE(slices);
  EXPECT_EQ(slices->size(), 400u);
  settle(s);
  EXPECT_EQ(s.set->decodes_max(), 1u);
}

// A plan may be dropped; reads that wait for it are served all the same.
TEST(ClusterCache, APlanThatIsDroppedLetsItsReadersGoOn) {
  PlansUnderWay plans;
  auto plan = plans.begin(3, 10, {0, 100});
  EXPECT_EQ(plans.covering(2, {0, 100}), nullptr);
  EXPECT_EQ(plans.covering(10, {0, 100}), nullptr);
  EXPECT_EQ(plans.covering(5, {100, 101}), nullptr);
  Answer<bool> answer;
  plans.covering(9, {99, 200})->wait(answer.reply());
  EXPECT_FALSE(answer.is_there());
  plan.reset();
  EXPECT_TRUE(answer.is_there());
  EXPECT_EQ(plans.covering(5, {0, 100}), nullptr);
}

TEST(ClusterCache, ColumnsThatAreUsedTogetherComeTogether) {
  Rig s(wide_table());
  const std::vector<tfile::StreamId> used = {10, 120, 200};
  std::uint64_t misses_learnt = 0;
  for (std::uint64_t part = 0; part < 60; part += 8) {
    if (part == 16) misses_learnt = s.cache->counters().misses;
    for (const tfile::StreamId stream : used) {
      ASSERT_TRUE(read_bytes(*s.column, stream, part * 400, 400));
      settle(s);
    }
  }
  // In each part, the first column is waited for; the others are there when they are requested.
  EXPECT_LE(s.cache->counters().misses - misses_learnt, 6u);
  for (const auto& [key, decodes] : s.set->decodes)
    EXPECT_TRUE(std::find(used.begin(), used.end(), key.first) != used.end()) << key.first;
}

TEST(ClusterCache, WithoutPrefetchNothingElseIsLoaded) {
  Rig s({even_stream(400, 5000)}, 64 << 20, Prefetch::off);
  for (std::uint64_t offset = 0; offset < 2'000'000; offset += 20'000)
    ASSERT_TRUE(read_bytes(*s.column, 0, offset, 20'000));
  settle(s);
  EXPECT_EQ(s.set->chunks_decoded(), 100u);
}

TEST(ClusterCache, ReadingBackwardsFindsItsNextChunks) {
  Rig s({even_stream(400, 5000)});
  for (std::uint64_t offset = 8'000'000; offset > 0; offset -= 40'000) {
    ASSERT_TRUE(read_bytes(*s.column, 0, offset - 40'000, 40'000));
    settle(s);  // else how far they have come depends on the load of the machine
  }
  EXPECT_EQ(s.set->chunks_decoded(), 400u);
  EXPECT_GT(s.cache->report(false).reading.total()[Count::chunks_ahead], 300u);
}

TEST(ClusterCache, ManySmallPiecesAreJoined) {
  Rig s({even_stream(2000, 16)});
  Answer<Slices> answer;
  s.column->read(0, 0, 4, 10, 100'000, answer.reply());
  const auto slices = answer.wait();
  ASSERT_TRUE(slices);
  EXPECT_EQ(slices->size(), 100'000u);
  EXPECT_EQ(slices->pieces.size(), 1u);
  EXPECT_EQ(*read_bytes(*s.column, 0, 10, 100'000), expected_bytes(*s.set, 0, 10, 100'000));
}

TEST(ClusterCache, ASetThatIsLetGoGivesItsMemoryBack) {
  Rig s({even_stream(10, 1000)});
  ASSERT_TRUE(read_bytes(*s.column, 0, 0, 40000));
  EXPECT_GT(s.cache->counters().budget_used, 0u);
  s.column.reset();
  // The task that answered the read may not have ended yet.
  EXPECT_TRUE(wait_until([&] { return s.cache->counters().budget_used == 0; }));
}

TEST(ClusterCache, ClosingWithReadsInFlightAnswersThem) {
  std::vector<Answer<Slices>> answers(50);
  {
    Rig s({even_stream(100, 1000)}, 30'000);
    s.set->source->delay = std::chrono::microseconds(300);
    for (std::size_t i = 0; i < answers.size(); ++i) s.column->read(0, 0, 4, i * 8000, 4000, answers[i].reply());
  }
  for (auto& answer : answers) EXPECT_TRUE(answer.is_there());
}

// Opens and listings that hang do not delay reads of columns, however many there are; nor the reverse.
TEST(ClusterCache, ReadsAndJobsDoNotWaitForEachOther) {
  Rig s({even_stream(20, 1000)});
  std::promise<void> gate;
  const auto released = gate.get_future().share();
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(s.cache->exec().job_pool.run([released] { released.wait(); }, Urgency::awaited));
  ASSERT_TRUE(read_bytes(*s.column, 0, 0, 4000));
  gate.set_value();

  std::promise<void> disk;
  s.set->source->gate = disk.get_future().share();
  std::vector<Answer<Slices>> answers(8);
  for (std::size_t i = 0; i < answers.size(); ++i)
    s.column->read(0, 0, sizeof(SyntheticStreams::Item), (10 + i) * 4000, 4000, answers[i].reply());
  const auto done = std::make_shared<std::promise<void>>();
  ASSERT_TRUE(s.cache->exec().job_pool.run([done] { done->set_value(); }, Urgency::awaited));
  done->get_future().wait();
  disk.set_value();
  for (auto& answer : answers) EXPECT_TRUE(answer.wait());
}

}  // namespace
}  // namespace tfilefs
