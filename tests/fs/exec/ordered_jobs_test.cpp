// SPDX-License-Identifier: Apache-2.0
#include "exec/ordered_jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tfilefs {
namespace {

TEST(OrderedJobs, GiveTheirResultsInTheOrderInWhichTheyWereStarted) {
  ThreadPool pool(4);
  std::vector<int> taken;
  OrderedJobs<int> jobs([&](Result<int> number) -> Result<> {
    taken.push_back(*number);
    return {};
  });
  std::vector<int> started;
  for (int i = 0; i < 200; ++i) {
    started.push_back(i);
    jobs.start(pool, Urgency::ahead, [i]() -> Result<int> { return i; });
    ASSERT_TRUE(jobs.take_down_to(5));
    EXPECT_GE(taken.size() + 5, started.size());
  }
  ASSERT_TRUE(jobs.take_down_to(0));
  EXPECT_EQ(taken, started);
}

TEST(OrderedJobs, CountTheirSizes) {
  ThreadPool pool(1);
  std::size_t taken = 0;
  OrderedJobs<void> jobs([&](Result<>) -> Result<> {
    ++taken;
    return {};
  });
  for (const std::uint64_t size : {30, 60, 10})
    jobs.start(
        pool, Urgency::ahead, []() -> Result<> { return {}; }, size);
  ASSERT_TRUE(jobs.take_down_to(100));
  EXPECT_EQ(taken, 0U);
  ASSERT_TRUE(jobs.take_down_to(69));
  EXPECT_EQ(taken, 2U);
}

TEST(OrderedJobs, MayBeStartedWhereAResultIsTaken) {
  ThreadPool pool(1);
  int next = 0;
  std::vector<int> taken;
  const auto number = [&] { return [i = next++]() -> Result<int> { return i; }; };
  OrderedJobs<int>* all = nullptr;
  OrderedJobs<int> jobs([&](Result<int> made) -> Result<> {
    taken.push_back(*made);
    if (next < 5) all->start(pool, Urgency::ahead, number());
    return {};
  });
  all = &jobs;
  jobs.start(pool, Urgency::ahead, number());
  ASSERT_TRUE(jobs.take_down_to(0));
  EXPECT_EQ(taken, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(OrderedJobs, AreOverAtTheEndThoughAnErrorEndsTheTaking) {
  ThreadPool pool(2);
  std::atomic<int> run = 0;
  {
    OrderedJobs<int> jobs([](Result<int> number) -> Result<> {
      TRY_VOID(std::move(number));
      return {};
    });
    for (int i = 0; i < 20; ++i) {
      jobs.start(pool, Urgency::ahead, [&run, i]() -> Result<int> {
        ++run;
        if (i == 1) return tfile::fail(ErrorKind::invalid, "the second");
        return i;
      });
    }
    const auto taken = jobs.take_down_to(0);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().text, "the second");
  }
  EXPECT_EQ(run, 20);
}

}  // namespace
}  // namespace tfilefs
