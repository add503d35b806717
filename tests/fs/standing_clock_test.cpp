// SPDX-License-Identifier: Apache-2.0
#include "fs/standing_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "mutex.h"

namespace tfilefs {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(StandingClock, StandsUntilItIsMoved) {
  StandingClock clock;
  const auto begin = clock.now();
  EXPECT_EQ(clock.now(), begin);
  clock.move(milliseconds(7));
  EXPECT_EQ(clock.now(), begin + milliseconds(7));
  EXPECT_GT(begin, SteadyClock::Time()) << "which stands for never";
}

TEST(StandingClock, WakesNobodyBeforeItsTime) {
  StandingClock clock;
  std::atomic<bool> over = false;
  std::thread thread([&] {
    clock.sleep_for(milliseconds(10));
    over = true;
  });
  clock.await_waiting(1);
  EXPECT_EQ(clock.next(), clock.now() + milliseconds(10));
  clock.move(milliseconds(9));
  EXPECT_EQ(clock.waiting(), 1U);
  EXPECT_FALSE(over);
  clock.move(milliseconds(1));
  thread.join();
  EXPECT_TRUE(over);
  EXPECT_EQ(clock.waiting(), 0U);
  EXPECT_FALSE(clock.next());
}

TEST(StandingClock, DoesNotHoldThoseWhoseTimeIsOver) {
  StandingClock clock;
  Mutex mutex;
  Condition condition;
  const Lock lock(mutex);
  clock.wait_until(condition, mutex, clock.now());
  clock.wait_until(condition, mutex, clock.now() - hours(1));
  clock.sleep_for(milliseconds(0));
}

TEST(StandingClock, WakesInTheOrderOfTimes) {
  StandingClock clock;
  std::mutex mutex;
  std::vector<int> woken;
  std::vector<SteadyClock::Time> at;
  const auto begin = clock.now();
  std::vector<std::thread> threads;
  for (const int due : {30, 10, 20, 10}) {
    threads.emplace_back(clock.counted([&, due] {
      clock.sleep_for(milliseconds(due));
      const std::lock_guard lock(mutex);
      woken.push_back(due);
      at.push_back(clock.now());
    }));
  }
  clock.come_to_rest();
  int looks = 0;
  clock.pass(milliseconds(25), [&] { ++looks; });
  EXPECT_EQ(looks, 3) << "at 10, at 20 and at the end";
  EXPECT_EQ(woken, (std::vector{10, 10, 20}));
  EXPECT_EQ(clock.waiting(), 1U);
  clock.pass(hours(1));
  EXPECT_EQ(woken, (std::vector{10, 10, 20, 30}));
  EXPECT_EQ(at.back(), begin + milliseconds(30)) << "its own time, not the end of what passes";
  for (std::thread& thread : threads) thread.join();
}

// What is woken may wait again, for a time that is passed by the same call.
TEST(StandingClock, PassesAllTimesOfOneThread) {
  StandingClock clock;
  int times = 0;
  std::thread thread(clock.counted([&] {
    while (times < 5) {
      clock.sleep_for(milliseconds(10));
      ++times;
    }
  }));
  clock.pass(milliseconds(35));
  EXPECT_EQ(times, 3);
  clock.pass(milliseconds(5));
  EXPECT_EQ(times, 4);
  clock.pass(hours(1));
  EXPECT_EQ(times, 5);
  thread.join();
}

TEST(StandingClock, ComesToRestBehindWhatWasWokenOtherwise) {
  StandingClock clock;
  Mutex mutex;
  Condition changed;
  int wanted = 0, done = 0;  // guarded by `mutex`
  bool over = false;
  std::thread thread(clock.counted([&] {
    const Lock lock(mutex);
    while (!over) {
      done = wanted;
      clock.wait_until(changed, mutex, clock.now() + hours(1));
    }
  }));
  for (int i = 1; i <= 1000; ++i) {
    {
      const Lock lock(mutex);
      wanted = i;
    }
    changed.notify_all();
    clock.come_to_rest();
    const Lock lock(mutex);
    ASSERT_EQ(done, i);
  }
  {
    const Lock lock(mutex);
    over = true;
  }
  changed.notify_all();
  thread.join();
  clock.come_to_rest();
}

TEST(StandingClock, CountsNoThreadThatWasNotMade) {
  StandingClock clock;
  {
    const auto run = clock.counted([] {});
  }
  clock.come_to_rest();
}

// No call is lost, and nothing that has ended is touched: each wait has a mutex and a condition of its own, and is
// woken by time or by another thread.
TEST(StandingClock, LosesNoCall) {
  constexpr int kThreads = 4, kWaits = 200;
  StandingClock clock;
  std::atomic<int> left = kThreads;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      std::minstd_rand random(static_cast<unsigned>(i) + 1);
      for (int wait = 0; wait < kWaits; ++wait) clock.sleep_for(milliseconds(1 + random() % 5));
      --left;
    });
  }
  while (left > 0) {
    clock.move(milliseconds(1));
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clock.waiting(), 0U);
}

}  // namespace
}  // namespace tfilefs
