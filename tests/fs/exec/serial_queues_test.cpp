// SPDX-License-Identifier: Apache-2.0
#include "exec/serial_queues.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace tfilefs {
namespace {

TEST(SerialQueues, JobsOfOneRunInOrder) {
  SerialQueues serial_queues;
  std::vector<int> order;  // used by one thread at a time
  int queue = 0;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(serial_queues.run(&queue, [&order, i] { order.push_back(i); }));
  serial_queues.stop();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(SerialQueues, NoneWaitsForAnother) {
  SerialQueues serial_queues;
  std::promise<void> gate;
  const auto released = gate.get_future().share();
  std::vector<int> held(20);
  for (const int& queue : held) ASSERT_TRUE(serial_queues.run(&queue, [released] { released.wait(); }));
  const auto done = std::make_shared<std::promise<void>>();
  ASSERT_TRUE(serial_queues.run(&serial_queues, [done] { done->set_value(); }));
  done->get_future().wait();
  gate.set_value();
}

TEST(SerialQueues, OfSeveralTheOneWithFewestJobsIsTaken) {
  SerialQueues serial_queues;
  std::promise<void> gate;
  const auto released = gate.get_future().share();
  const char queues[3] = {};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(serial_queues.run_in_one_of(queues, 3, [released] { released.wait(); }));
  const auto done = std::make_shared<std::promise<void>>();
  ASSERT_TRUE(serial_queues.run_in_one_of(queues, 3, [done] { done->set_value(); }));
  done->get_future().wait();
  gate.set_value();
}

// A queue whose thread has just ended accepts work again, also from jobs.
TEST(SerialQueues, ComeAndGo) {
  SerialQueues serial_queues;
  for (int i = 0; i < 200; ++i) {
    const auto done = std::make_shared<std::promise<void>>();
    ASSERT_TRUE(serial_queues.run(&i, [&serial_queues, &i, done] {
      EXPECT_TRUE(serial_queues.run(&serial_queues, [&serial_queues, &i, done] {
        EXPECT_TRUE(serial_queues.run(&i, [done] { done->set_value(); }));
      }));
    }));
    done->get_future().wait();
  }
}

TEST(SerialQueues, WhatWasTakenIsRunBeforeTheEnd) {
  SerialQueues serial_queues;
  std::atomic<int> ran = 0;
  std::vector<int> names(10);
  for (const int& queue : names) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(serial_queues.run(&queue, [&] { ++ran; }));
  }
  serial_queues.stop();
  EXPECT_EQ(ran, 50);
  EXPECT_FALSE(serial_queues.run(&ran, [&] { ++ran; }));
  EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace tfilefs
