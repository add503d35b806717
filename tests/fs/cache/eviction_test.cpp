// SPDX-License-Identifier: Apache-2.0
#include "cache/eviction.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace tfilefs {
namespace {

// A cache of one-byte residents, driven by a trace.
class Trace {
 public:
  explicit Trace(std::uint64_t capacity) : capacity_(capacity), eviction_(capacity) {}
  bool use(std::uint64_t id) {
    if (const auto found = residents_.find(id); found != residents_.end()) {
      Eviction::touch(*found->second);
      return true;
    }
    while (eviction_.bytes() >= capacity_) {
      Resident* victim = eviction_.take_victim([](const Resident&) { return true; });
      residents_.erase(victim->fingerprint);
    }
    auto resident = std::make_unique<Resident>();
    resident->bytes = 1;
    resident->fingerprint = id;
    eviction_.insert(*resident);
    residents_.emplace(id, std::move(resident));
    return false;
  }
  bool holds(std::uint64_t id) const { return residents_.contains(id); }
  Eviction& eviction() { return eviction_; }

 private:
  const std::uint64_t capacity_;
  Eviction eviction_;
  std::map<std::uint64_t, std::unique_ptr<Resident>> residents_;
};

TEST(Eviction, AScanDoesNotFlushWhatIsInUse) {
  Trace trace(100);
  for (int round = 0; round < 3; ++round)
    for (std::uint64_t hot = 0; hot < 40; ++hot) trace.use(hot);
  for (std::uint64_t cold = 1000; cold < 3000; ++cold) trace.use(cold);
  int kept = 0;
  for (std::uint64_t hot = 0; hot < 40; ++hot) kept += trace.holds(hot);
  EXPECT_GE(kept, 38);
}

TEST(Eviction, WhatComesBackSoonIsKept) {
  Trace trace(100);
  for (std::uint64_t id = 0; id < 120; ++id) trace.use(id);  // the first ones have left
  ASSERT_FALSE(trace.holds(3));
  trace.use(3);
  for (std::uint64_t cold = 1000; cold < 1080; ++cold) trace.use(cold);
  EXPECT_TRUE(trace.holds(3));
}

TEST(Eviction, BusyResidentsArePassedOver) {
  Eviction eviction(10);
  Resident a, b;
  a.bytes = b.bytes = 5;
  a.fingerprint = 1;
  b.fingerprint = 2;
  eviction.insert(a);
  eviction.insert(b);
  EXPECT_EQ(eviction.take_victim([&](const Resident& r) { return &r != &a; }), &b);
  EXPECT_EQ(eviction.take_victim([&](const Resident& r) { return &r != &a; }), nullptr);
  EXPECT_EQ(eviction.bytes(), 5u);
  EXPECT_EQ(eviction.take_victim([](const Resident&) { return true; }), &a);
  EXPECT_EQ(eviction.take_victim([](const Resident&) { return true; }), nullptr);
}

TEST(Eviction, HitsMoreOftenThanFifoOnASkewedTrace) {
  Trace trace(200);
  std::deque<std::uint64_t> fifo;
  std::set<std::uint64_t> in_fifo;
  std::mt19937 random(3);
  int hits = 0, fifo_hits = 0;
  for (int i = 0; i < 50'000; ++i) {
    const double u = std::uniform_real_distribution<>(0, 1)(random);
    const auto id = static_cast<std::uint64_t>(2000 * u * u * u);
    hits += trace.use(id);
    if (!in_fifo.insert(id).second) {
      ++fifo_hits;
      continue;
    }
    fifo.push_back(id);
    if (fifo.size() > 200) {
      in_fifo.erase(fifo.front());
      fifo.pop_front();
    }
  }
  EXPECT_GT(hits, fifo_hits * 11 / 10);
}

constexpr std::uint64_t kMegabyte = 1 << 20;

TEST(Eviction, RemembersEachOfManySmallOnesThatWereHandedOver) {
  constexpr std::uint64_t kCount = 200'000, kBytes = 2000;
  Eviction eviction(std::uint64_t{4} << 30);
  std::deque<Resident> residents(kCount);
  for (std::uint64_t id = 0; id < kCount; ++id) {
    residents[id].bytes = kBytes;
    residents[id].fingerprint = id;
    eviction.insert(residents[id]);
    eviction.hand_over(residents[id], false);
  }
  while (eviction.take_handed([](const Resident&) { return true; })) {
  }
  EXPECT_TRUE(eviction.has_handed_over(0));
  EXPECT_TRUE(eviction.has_handed_over(kCount - 1));
}

TEST(Eviction, WhatIsLookedAtOnceLeavesAfterAFewOthersAndIsNotMissed) {
  Eviction eviction(std::uint64_t{1} << 30);
  std::deque<Resident> residents(8);
  const Resident* in_use = nullptr;
  std::vector<std::uint64_t> gone;
  for (Resident& resident : residents) {
    resident.bytes = kMegabyte;
    resident.fingerprint = gone.size() + eviction.bytes() / kMegabyte;
    eviction.insert(resident);
    eviction.pass(resident);
    in_use = &resident;
    while (Resident* victim = eviction.take_excess([&](const Resident& one) { return &one != in_use; }))
      gone.push_back(victim->fingerprint);
  }
  EXPECT_EQ(gone, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(eviction.has_handed_over(0));
  EXPECT_EQ(eviction.take_victim([](const Resident&) { return true; }), &residents[6]);
  eviction.insert(residents[0]);
  EXPECT_FALSE(eviction.is_asked_again());
}

// Residents of one megabyte each, in a cache that may take a gigabyte. Each is handed over as soon as it is there.
class HandedTrace {
 public:
  explicit HandedTrace(bool is_remote = false) : is_remote_(is_remote) {}
  bool use(std::uint64_t id) {
    if (const auto found = residents_.find(id); found != residents_.end()) {
      Eviction::touch(*found->second);
      return true;
    }
    auto resident = std::make_unique<Resident>();
    resident->bytes = kMegabyte;
    resident->fingerprint = id;
    eviction_.insert(*resident);
    eviction_.hand_over(*resident, is_remote_);
    residents_.emplace(id, std::move(resident));
    while (Resident* victim = eviction_.take_excess([](const Resident&) { return true; }))
      residents_.erase(victim->fingerprint);
    return false;
  }
  int scan(std::uint64_t count) {
    int hits = 0;
    for (std::uint64_t id = 0; id < count; ++id) hits += use(id);
    return hits;
  }
  Eviction& eviction() { return eviction_; }

 private:
  const bool is_remote_;
  Eviction eviction_{1024 * kMegabyte};
  std::map<std::uint64_t, std::unique_ptr<Resident>> residents_;
};

TEST(Eviction, WhatWasHandedOverTakesAFewMegabytes) {
  HandedTrace trace;
  EXPECT_EQ(trace.scan(4000), 0);
  EXPECT_EQ(trace.eviction().bytes(), 32 * kMegabyte);
}

TEST(Eviction, WhatIsAskedForAgainIsKeptFromThenOn) {
  HandedTrace trace;
  trace.scan(400);
  EXPECT_EQ(trace.scan(400), 32);  // the last ones are still there
  EXPECT_EQ(trace.scan(400), 400);
  EXPECT_GE(trace.eviction().bytes(), 400 * kMegabyte);
}

TEST(Eviction, WhatNoCacheOfThatSizeWouldHaveIsNoEvidence) {
  HandedTrace trace;
  trace.scan(4000);
  trace.scan(1000);  // seen three gigabytes ago
  EXPECT_EQ(trace.eviction().bytes(), 32 * kMegabyte);
}

TEST(Eviction, AFewThatComeBackAreNoSignThatAllWill) {
  HandedTrace trace;
  trace.scan(400);
  for (std::uint64_t id = 0; id < 7; ++id) trace.use(id);
  EXPECT_FALSE(trace.eviction().is_asked_again());
  trace.use(7);
  EXPECT_TRUE(trace.eviction().is_asked_again());
}

TEST(Eviction, AUseOfWhatWasHandedOverIsEvidence) {
  HandedTrace trace;
  for (std::uint64_t id = 0; id < 100; ++id) {
    trace.use(id);
    if (id >= 10) {
      EXPECT_TRUE(trace.use(id - 10)) << id;
    }
  }
  EXPECT_GT(trace.eviction().bytes(), 80 * kMegabyte);
}

TEST(Eviction, WithoutDemandForAWhileItIsShortAgain) {
  HandedTrace trace;
  trace.scan(400);
  trace.scan(400);
  trace.eviction().forget_demand();
  trace.use(1000);
  EXPECT_LE(trace.eviction().bytes(), 64 * kMegabyte);  // the last ones of the first round were used in the second
}

TEST(Eviction, WhatCameFromAServerStaysUntilTheMemoryIsNeeded) {
  HandedTrace trace(true);
  EXPECT_EQ(trace.scan(400), 0);
  EXPECT_EQ(trace.scan(400), 400);
  for (const std::uint64_t id : {0u, 1u}) {
    Resident* const victim = trace.eviction().take_victim([](const Resident&) { return true; });
    ASSERT_NE(victim, nullptr);
    EXPECT_EQ(victim->fingerprint, id);
  }
  trace.eviction().forget_demand();
  int freed = 0;
  while (trace.eviction().take_handed([](const Resident&) { return true; })) ++freed;
  EXPECT_EQ(freed, 398);
}

TEST(Eviction, WhatWasHandedOverGoesBeforeTheRest) {
  Eviction eviction(100);
  Resident first, second;
  first.bytes = second.bytes = 10;
  first.fingerprint = 1;
  second.fingerprint = 2;
  eviction.insert(first);
  eviction.insert(second);
  eviction.hand_over(second, false);
  EXPECT_EQ(eviction.take_victim([](const Resident&) { return true; }), &second);
  EXPECT_EQ(eviction.take_victim([](const Resident&) { return true; }), &first);
}

}  // namespace
}  // namespace tfilefs
