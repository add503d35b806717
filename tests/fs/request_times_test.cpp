// SPDX-License-Identifier: Apache-2.0
#include "request_times.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tfilefs {
namespace {

using namespace std::chrono_literals;

TEST(RequestTimes, ABoundBelongsToWhatItBounds) {
  RequestTimes times;
  for (const auto took : {-1ns, 0ns, 10'000ns, 10'001ns, 30'000ns}) times.add(RequestKind::lookup, took);
  times.add(RequestKind::lookup, 60s);
  times.add(RequestKind::lookup, 60s + 1ns);
  const auto lookups = times.report()[static_cast<std::size_t>(RequestKind::lookup)];
  EXPECT_EQ(lookups.counts[0], 3u);
  EXPECT_EQ(lookups.counts[1], 2u);
  EXPECT_EQ(lookups.counts[RequestTimes::kBounds.size() - 1], 1u);
  EXPECT_EQ(lookups.counts[RequestTimes::kBounds.size()], 1u);
  EXPECT_EQ(lookups.count(), 7u);
  EXPECT_EQ(lookups.sum_ns, 120'000'050'002u);
  EXPECT_EQ(times.report()[static_cast<std::size_t>(RequestKind::read)].count(), 0u);
}

TEST(RequestTimes, NothingIsLostBetweenThreads) {
  RequestTimes times;
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) RequestClock(times, RequestKind::read).stop();
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(times.report()[static_cast<std::size_t>(RequestKind::read)].count(), 200'000u);
}

}  // namespace
}  // namespace tfilefs
