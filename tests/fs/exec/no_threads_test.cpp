// SPDX-License-Identifier: Apache-2.0
// What becomes of work where the system gives no thread: an error, or the threads that there are. Never a hang.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <system_error>

#include "exec/io_pools.h"
#include "exec/serial_queues.h"
#include "exec/thread_pool.h"
#include "exec/timers.h"
#include "fs/failing_threads.h"
#include "log.h"

namespace tfilefs {
namespace {

class NoThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (!FailingThreads::is_possible()) GTEST_SKIP() << "a sanitizer makes the threads";
  }
};

// Runs jobs by `run(job)` and waits for them.
template <class Run>
void run_all(Run run) {
  std::atomic<int> left = 100;
  std::promise<void> done;
  for (int i = 0; i < 100; ++i)
    run([&] {
      if (--left == 0) done.set_value();
    });
  done.get_future().wait();
}

TEST_F(NoThreads, APoolHasOneAtLeast) {
  const FailingThreads none(0);
  EXPECT_THROW(ThreadPool(4), std::system_error);
}

TEST_F(NoThreads, APoolGoesOnWithThoseThatThereAre) {
  const FailingThreads two(2);
  ThreadPool pool(8);
  run_all([&](auto job) { ASSERT_TRUE(pool.run(job, Urgency::awaited)); });
}

TEST_F(NoThreads, AnOriginIsTriedAgain) {
  IoPools pools(2);
  {
    const FailingThreads none(0);
    EXPECT_FALSE(pools.run(
        tfile::kLocalOrigin, [] {}, Urgency::awaited));
  }
  run_all([&](auto job) { ASSERT_TRUE(pools.run(tfile::kLocalOrigin, job, Urgency::awaited)); });
}

TEST_F(NoThreads, ALaneIsTriedAgain) {
  SerialQueues serial_queues;
  const int name = 0;
  {
    const FailingThreads none(0);
    EXPECT_FALSE(serial_queues.run(&name, [] {}));
  }
  run_all([&](auto job) { ASSERT_TRUE(serial_queues.run(&name, job)); });
}

TEST_F(NoThreads, WhatCannotDoWithoutOneSaysSo) {
  const FailingThreads none(0);
  EXPECT_THROW(Timers(), std::system_error);
  LogOptions options;
  options.to = LogOptions::To::standard_error;
  EXPECT_THROW(Log(std::move(options)), std::system_error);
}

}  // namespace
}  // namespace tfilefs
