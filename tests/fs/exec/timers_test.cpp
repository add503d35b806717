// SPDX-License-Identifier: Apache-2.0
#include "exec/timers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

namespace tfilefs {
namespace {

using std::chrono::milliseconds;

TEST(Timers, ring_in_the_order_of_their_times) {
  std::vector<int> rung;
  std::promise<void> last;
  Timers timers;
  const auto begin = std::chrono::steady_clock::now();
  timers.after(milliseconds(60), [&] {
    rung.push_back(2);
    last.set_value();
  });
  timers.after(milliseconds(20), [&] { rung.push_back(1); });
  last.get_future().wait();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(60));
  EXPECT_EQ(rung, (std::vector<int>{1, 2}));
}

TEST(Timers, one_may_set_the_next) {
  std::promise<void> done;
  Timers timers;
  timers.after(milliseconds(1), [&] { timers.after(milliseconds(1), [&] { done.set_value(); }); });
  done.get_future().wait();
}

TEST(Timers, are_dropped_when_stopped) {
  const auto held = std::make_shared<int>(0);
  Timers timers;
  timers.after(std::chrono::hours(1), [held] { ++*held; });
  EXPECT_EQ(held.use_count(), 2);
  timers.stop();
  timers.after(milliseconds(0), [held] { ++*held; });
  timers.stop();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace tfilefs
