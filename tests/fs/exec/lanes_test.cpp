// SPDX-License-Identifier: Apache-2.0
#include "exec/lanes.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace tfilefs {
namespace {

TEST(Lanes, JobsOfOneRunInOrder) {
  Lanes lanes;
  std::vector<int> order;  // used by one thread at a time
  int lane = 0;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(lanes.run(&lane, [&order, i] { order.push_back(i); }));
  lanes.stop();
  ASSERT_EQ(order.size(), 1000u);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Lanes, NoneWaitsForAnother) {
  Lanes lanes;
  std::promise<void> gate;
  const auto released = gate.get_future().share();
  std::vector<int> held(20);
  for (const int& lane : held) ASSERT_TRUE(lanes.run(&lane, [released] { released.wait(); }));
  const auto done = std::make_shared<std::promise<void>>();
  ASSERT_TRUE(lanes.run(&lanes, [done] { done->set_value(); }));
  done->get_future().wait();
  gate.set_value();
}

// A lane whose thread has just ended accepts work again, also from jobs.
TEST(Lanes, ComeAndGo) {
  Lanes lanes;
  for (int i = 0; i < 200; ++i) {
    const auto done = std::make_shared<std::promise<void>>();
    ASSERT_TRUE(lanes.run(&i, [&lanes, &i, done] {
      EXPECT_TRUE(lanes.run(&lanes, [&lanes, &i, done] { EXPECT_TRUE(lanes.run(&i, [done] { done->set_value(); })); }));
    }));
    done->get_future().wait();
  }
}

TEST(Lanes, WhatWasTakenIsRunBeforeTheEnd) {
  Lanes lanes;
  std::atomic<int> ran = 0;
  std::vector<int> names(10);
  for (const int& lane : names) {
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(lanes.run(&lane, [&] { ++ran; }));
  }
  lanes.stop();
  EXPECT_EQ(ran, 50);
  EXPECT_FALSE(lanes.run(&ran, [&] { ++ran; }));
  EXPECT_EQ(ran, 50);
}

}  // namespace
}  // namespace tfilefs
