// SPDX-License-Identifier: Apache-2.0
#include "exec/io_pools.h"

#include <gtest/gtest.h>

#include <future>

namespace tfilefs {
namespace {

// A job that waits until the test opens the gate.
std::function<void()> held(const std::shared_future<void>& gate) {
  return [gate] { gate.wait(); };
}

std::function<void()> telling(const std::shared_ptr<std::promise<void>>& done) {
  return [done] { done->set_value(); };
}

TEST(IoPools, AnOriginThatHangsHoldsBackNoOther) {
  IoPools pools(2);
  std::promise<void> gate;
  const auto released = gate.get_future().share();
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(pools.run(7, held(released), Urgency::awaited));
  const auto done = std::make_shared<std::promise<void>>();
  ASSERT_TRUE(pools.run(tfile::kLocalOrigin, telling(done), Urgency::awaited));
  done->get_future().wait();
  gate.set_value();
}

TEST(IoPools, WhatWasTakenIsRunBeforeTheEnd) {
  IoPools pools(1);
  std::atomic<int> ran = 0;
  for (tfile::ServerId origin = 0; origin < 3; ++origin) {
    for (int i = 0; i < 5; ++i)
      ASSERT_TRUE(pools.run(
          origin, [&] { ++ran; }, Urgency::ahead));
  }
  pools.stop();
  EXPECT_EQ(ran, 15);
  EXPECT_FALSE(pools.run(
      tfile::kLocalOrigin, [&] { ++ran; }, Urgency::awaited));
  EXPECT_FALSE(pools.run(
      3, [&] { ++ran; }, Urgency::awaited));
  EXPECT_EQ(ran, 15);
}

}  // namespace
}  // namespace tfilefs
