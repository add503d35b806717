// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <new>

#include "cache/budget.h"
#include "fs/cache/synthetic_streams.h"

namespace tfilefs {
namespace {

using tfile::ItemsFrom;

// A few streams of every kind, with chunks from zero bytes to several times the budget.
std::vector<SyntheticStream> random_streams(std::mt19937& random) {
  std::vector<SyntheticStream> streams(1 + random() % 6);
  for (std::size_t s = 0; s < streams.size(); ++s) {
    SyntheticStream& stream = streams[s];
    stream.from = std::array{ItemsFrom::metadata, ItemsFrom::headers, ItemsFrom::payloads}[random() % 3];
    stream.counting_decodes = random() % 2 == 0;
    stream.embedded = random() % 8 == 0;
    stream.stored_gap = random() % 3 == 0 ? random() % 3000 : 0;
    const std::size_t chunks = s > 0 && random() % 3 == 0 ? streams[0].items.size() : 1 + random() % 40;
    const std::uint32_t items_max = std::array{10u, 1000u, 20'000u}[random() % 3];
    for (std::size_t i = 0; i < chunks; ++i) stream.items.push_back(random() % items_max);
    if (s > 0 && chunks == streams[0].items.size() && !streams[0].input) stream.input = 0;
  }
  return streams;
}

class RandomReaders {
 public:
  RandomReaders(unsigned seed, Prefetch prefetch)
      : random_(seed),
        set_(std::make_shared<SyntheticStreams>(random_streams(random_))),
        cache_(std::make_unique<ClusterCache>(
            CacheOptions{.memory = 1000u << (random_() % 8), .threads = 2, .io_threads = 2, .prefetch = prefetch})),
        column_(cache_->attach(set_)) {}

  // Memory that a writer holds while others read.
  Budget::Reservation take() { return cache_->budget()->take(std::array{0u, 76u, 900u, 100'000u}[random_() % 4]); }

  // The first step of a view of all columns.
  void ask_for_all_lengths() {
    std::vector<Answer<std::int64_t>> lengths(set_->stream_count());
    for (tfile::StreamId s = 0; s < lengths.size(); ++s) column_->length(s, 0, lengths[s].reply());
    for (tfile::StreamId s = 0; s < lengths.size(); ++s) {
      const auto length = lengths[s].wait();
      if (!length || *length != set_->length(s)) ++wrong_;
    }
  }

  void read(int readers) {
    std::vector<std::thread> threads;
    for (int t = 0; t < readers; ++t)
      threads.emplace_back([this, seed = static_cast<unsigned>(random_())] { read_some(seed); });
    for (auto& thread : threads) thread.join();
  }
  int wrong() const { return wrong_; }

 private:
  void read_some(unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 25; ++i) {
      const auto s = static_cast<tfile::StreamId>(random() % set_->stream_count());
      const auto size = static_cast<std::uint64_t>(set_->length(s)) * sizeof(SyntheticStreams::Item);
      if (random() % 3 == 0) {
        const auto length = length_of(*column_, s);
        if (!length || *length != set_->length(s)) ++wrong_;
        continue;
      }
      const std::uint64_t offset = random() % (size + 1);
      const std::size_t wanted = 1 + random() % 100'000;
      const auto bytes = read_bytes(*column_, s, offset, wanted);
      if (!bytes || *bytes != expected_bytes(*set_, s, offset, wanted)) ++wrong_;
    }
  }

  std::mt19937 random_;
  std::shared_ptr<SyntheticStreams> set_;
  std::unique_ptr<ClusterCache> cache_;
  std::shared_ptr<CachedStreams> column_;
  std::atomic<int> wrong_ = 0;
};

// A quarter of the seeds each: they run side by side.
class RandomQuestions : public testing::TestWithParam<unsigned> {};

// If a question got no answer, this test would not end.
TEST_P(RandomQuestions, AreAnswered) {
  for (unsigned seed = GetParam(); seed < GetParam() + 75; ++seed) {
    RandomReaders readers(seed, seed % 2 == 0 ? Prefetch::off : Prefetch::learn);
    const Budget::Reservation staged = readers.take();
    readers.ask_for_all_lengths();
    readers.read(1 + static_cast<int>(seed % 4));
    EXPECT_EQ(readers.wrong(), 0) << "seed " << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(SmallBudget, RandomQuestions, testing::Values(0u, 75u, 150u, 225u));

// Counting leaves idle chunks; a request that waits for the whole budget must be able to evict them.
TEST(SmallBudget, WhatCountingKeepsMakesRoomForWhoWaits) {
  SyntheticStream counted = even_stream(3, 10);
  counted.from = ItemsFrom::payloads;
  counted.counting_decodes = true;
  SyntheticStream large = counted;
  large.items = {10'000};
  for (int i = 0; i < 200; ++i) {
    const auto set = std::make_shared<SyntheticStreams>(std::vector{counted, large, counted, large});
    const auto cache = std::make_unique<ClusterCache>(CacheOptions{.memory = 8000, .threads = 2, .io_threads = 2});
    const auto column = cache->attach(set);
    std::array<Answer<std::int64_t>, 4> lengths;
    for (tfile::StreamId s = 0; s < 4; ++s) column->length(s, 0, lengths[s].reply());
    for (tfile::StreamId s = 0; s < 4; ++s) EXPECT_EQ(*lengths[s].wait(), set->length(s));
  }
}

TEST(SmallBudget, StagedBytesDoNotBlockALargerRead) {
  const auto set = std::make_shared<SyntheticStreams>(std::vector{even_stream(1, 10'000)});
  const auto cache = std::make_unique<ClusterCache>(CacheOptions{.memory = 10'000, .threads = 2, .io_threads = 2});
  const auto column = cache->attach(set);
  for (const std::uint64_t bytes : {76u, 9'990u, 50'000u}) {
    const Budget::Reservation staged = cache->budget()->take(bytes);
    EXPECT_EQ(*read_bytes(*column, 0, 0, 40'000), expected_bytes(*set, 0, 0, 40'000)) << bytes;
    EXPECT_EQ(staged.bytes(), bytes);
  }
}

// The thread that releases bytes may hold a lock that the receiver of the bytes takes.
TEST(SmallBudget, BytesThatComeBackAreGrantedByAnotherThread) {
  struct Wanted : Budget::Request {
    explicit Wanted(std::mutex& of_both) : mutex(of_both) {}
    std::uint64_t prepare() override { return 900'000; }
    void retreat() override {}
    void claim(Budget::Reservation got) override { granted = std::move(got); }
    void start() override {
      const std::lock_guard lock(mutex);
      started.set_value();
    }
    void denied(const Error&) override {}
    std::mutex& mutex;
    Budget::Reservation granted;
    std::promise<void> started;
  };
  std::mutex mutex;
  const auto wanted = std::make_shared<Wanted>(mutex), before = std::make_shared<Wanted>(mutex);
  const auto cache = std::make_unique<ClusterCache>(CacheOptions{.memory = 1'000'000, .threads = 1, .io_threads = 1});
  cache->budget()->reserve(before, Budget::IfFull::wait);
  before->started.get_future().wait();
  cache->budget()->reserve(wanted, Budget::IfFull::wait);
  auto started = wanted->started.get_future();
  {
    const std::lock_guard lock(mutex);
    before->granted = {};
    EXPECT_EQ(started.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  }
  EXPECT_EQ(started.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  wanted->granted = {};
}

TEST(SmallBudget, ARequestThatThrowsKeepsNoOtherFromStarting) {
  struct Request : Budget::Request {
    Request(std::uint64_t bytes, bool is_bad) : need(bytes), throws(is_bad) {}
    std::uint64_t prepare() override { return need; }
    void retreat() override {}
    void claim(Budget::Reservation got) override { granted = std::move(got); }
    void start() override {
      if (throws) throw std::bad_alloc();
      started = true;
    }
    void denied(const Error&) override {}
    const std::uint64_t need;
    const bool throws;
    bool started = false;
    Budget::Reservation granted;
  };
  const auto budget = std::make_shared<Budget>(100);
  budget->set_evictor([](std::uint64_t, Budget::Evict) {});
  const auto all = std::make_shared<Request>(100, false), bad = std::make_shared<Request>(10, true),
             good = std::make_shared<Request>(10, false);
  for (const auto& request : {all, bad, good}) budget->reserve(request, Budget::IfFull::wait);
  EXPECT_TRUE(all->started && !good->started);
  all->granted = {};  // both are granted, and started together
  EXPECT_TRUE(good->started);
}

TEST(SmallBudget, WhatTakesFarMoreThanTheBudgetIsRefused) {
  auto set = std::make_shared<SyntheticStreams>(std::vector{even_stream(4, 1000)});
  set->claims[{0, 2}] = Budget::kBeyondMax + 20'000;
  const auto cache = std::make_unique<ClusterCache>(CacheOptions{.memory = 10'000, .threads = 2, .io_threads = 2});
  const auto column = cache->attach(set);
  const auto refused = read_bytes(*column, 0, 8000, 4000);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(is_refusal(refused.error())) << refused.error().text;
  EXPECT_NE(refused.error().text.find("129 MB needed"), std::string::npos) << refused.error().text;
  EXPECT_EQ(*read_bytes(*column, 0, 4000, 4000), expected_bytes(*set, 0, 4000, 4000));
  EXPECT_FALSE(read_bytes(*column, 0, 0, 16'000));
}

TEST(SmallBudget, ChunksThatDoNotFitTogetherAreReadOneByOne) {
  auto set = std::make_shared<SyntheticStreams>(std::vector{even_stream(10, 1000)});
  for (std::uint32_t chunk = 0; chunk < 10; ++chunk) set->claims[{0, chunk}] = Budget::kBeyondMax / 2;
  const auto cache = std::make_unique<ClusterCache>(CacheOptions{.memory = 10'000, .threads = 2, .io_threads = 2});
  const auto column = cache->attach(set);
  EXPECT_EQ(*read_bytes(*column, 0, 100, 39'000), expected_bytes(*set, 0, 100, 39'000));
  EXPECT_EQ(set->decodes_max(), 1u);
}

// A request of ten thousand chunks takes milliseconds to compute its need.
TEST(SmallBudget, AsksWhatWaitsAFewTimesNotWithEachByteThatComesBack) {
  struct Counted : Budget::Request {
    explicit Counted(std::uint64_t bytes) : need(bytes) {}
    std::uint64_t prepare() override { return ++asked, need; }
    void retreat() override {}
    void claim(Budget::Reservation got) override { granted = std::move(got); }
    void start() override { started = true; }
    void denied(const Error&) override {}
    const std::uint64_t need;
    int asked = 0;
    bool started = false;
    Budget::Reservation granted;
  };
  const auto budget = std::make_shared<Budget>(1000);
  budget->set_evictor([](std::uint64_t, Budget::Evict) {});
  const auto first = std::make_shared<Counted>(1000), larger = std::make_shared<Counted>(5000);
  budget->reserve(first, Budget::IfFull::wait);
  budget->reserve(larger, Budget::IfFull::wait);
  for (std::uint64_t left = 1000; left-- > 0;) {
    EXPECT_FALSE(larger->started);
    first->granted.shrink(left);
  }
  EXPECT_TRUE(larger->started);
  EXPECT_LE(larger->asked, 10);
}

// Each gap by itself would be read through; all of them together are many times the budget.
TEST(SmallBudget, GapsBetweenManySmallChunksAreNotReadThrough) {
  SyntheticStream stream = even_stream(2000, 10);
  stream.stored_gap = 8000;
  const auto set = std::make_shared<SyntheticStreams>(std::vector{stream});
  const auto cache = std::make_unique<ClusterCache>(
      CacheOptions{.memory = 2 << 20, .threads = 2, .io_threads = 2, .prefetch = Prefetch::off});
  const auto column = cache->attach(set);
  EXPECT_EQ(*read_bytes(*column, 0, 0, 1 << 20), expected_bytes(*set, 0, 0, 1 << 20));
  EXPECT_LE(cache->budget()->peak(), 3u << 20);
}

}  // namespace
}  // namespace tfilefs
