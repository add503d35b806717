// SPDX-License-Identifier: Apache-2.0
#include "exec/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <new>

#include "cache/plans_under_way.h"
#include "exec/serial_queues.h"
#include "reply.h"

namespace tfilefs {
namespace {

std::function<void()> job_that_throws(std::shared_ptr<Reply<bool>> reply) {
  return [reply = std::move(reply)] { throw std::bad_alloc(); };
}

struct Heard {
  std::promise<bool> promise;
  std::shared_ptr<Reply<bool>> reply() {
    return std::make_shared<Reply<bool>>([this](Result<bool> result) { promise.set_value(result.has_value()); });
  }
};

TEST(ThreadPool, GoesOnAfterAJobThatThrows) {
  Heard pool_heard, lane_heard;
  ThreadPool pool(1);
  SerialQueues serial_queues;
  ASSERT_TRUE(pool.run(job_that_throws(pool_heard.reply()), Urgency::awaited));
  ASSERT_TRUE(serial_queues.run(&serial_queues, job_that_throws(lane_heard.reply())));
  EXPECT_FALSE(pool_heard.promise.get_future().get());
  EXPECT_FALSE(lane_heard.promise.get_future().get());
  std::promise<void> next;
  ASSERT_TRUE(pool.run([&next] { next.set_value(); }, Urgency::awaited));
  next.get_future().wait();
}

TEST(ThreadPool, FinishWaitsForJobsOfJobs) {
  ThreadPool pool(2);
  std::atomic<int> done = 0;
  const std::function<void(int)> spread = [&](int depth) {
    ++done;
    for (int i = 0; i < 2 && depth > 0; ++i) pool.run([&spread, depth] { spread(depth - 1); }, Urgency::ahead);
  };
  for (int round = 1; round <= 3; ++round) {
    pool.run([&spread] { spread(6); }, Urgency::awaited);
    pool.finish();
    EXPECT_EQ(done, round * 127);
  }
}

TEST(PlansUnderWay, AReadThatThrowsLeavesTheOthersTheirAnswers) {
  Heard first, second;
  PlansUnderWay plans;
  auto plan = plans.begin(0, 1, {0, 10});
  plan->wait(Reply<bool>([reply = first.reply()](const Result<bool>&) { throw std::bad_alloc(); }));
  plan->wait(Reply<bool>([reply = second.reply()](Result<bool> result) { (*reply)(std::move(result)); }));
  plan.reset();
  EXPECT_FALSE(first.promise.get_future().get());
  EXPECT_TRUE(second.promise.get_future().get());
}

}  // namespace
}  // namespace tfilefs
