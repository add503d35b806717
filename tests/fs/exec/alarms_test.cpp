// SPDX-License-Identifier: Apache-2.0
#include "exec/alarms.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

namespace tfilefs {
namespace {

using std::chrono::milliseconds;

TEST(Alarms, ring_in_the_order_of_their_times) {
  std::vector<int> rung;
  std::promise<void> last;
  Alarms alarms;
  const auto begin = std::chrono::steady_clock::now();
  alarms.after(milliseconds(60), [&] {
    rung.push_back(2);
    last.set_value();
  });
  alarms.after(milliseconds(20), [&] { rung.push_back(1); });
  last.get_future().wait();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(60));
  EXPECT_EQ(rung, (std::vector<int>{1, 2}));
}

TEST(Alarms, one_may_set_the_next) {
  std::promise<void> done;
  Alarms alarms;
  alarms.after(milliseconds(1), [&] { alarms.after(milliseconds(1), [&] { done.set_value(); }); });
  done.get_future().wait();
}

TEST(Alarms, are_dropped_when_stopped) {
  const auto held = std::make_shared<int>(0);
  Alarms alarms;
  alarms.after(std::chrono::hours(1), [held] { ++*held; });
  EXPECT_EQ(held.use_count(), 2);
  alarms.stop();
  alarms.after(milliseconds(0), [held] { ++*held; });
  alarms.stop();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace tfilefs
