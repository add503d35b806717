// SPDX-License-Identifier: Apache-2.0
#include "cache/eviction.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>

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

}  // namespace
}  // namespace tfilefs
