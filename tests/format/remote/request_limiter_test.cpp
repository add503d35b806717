// SPDX-License-Identifier: Apache-2.0
#include "remote/http/request_limiter.h"

#include <gtest/gtest.h>

#include <vector>

namespace tfile {
namespace {

struct Sent {
  RequestLimiter turns;
  std::vector<int> numbers;
  std::vector<int> refused;

  void send(int number, bool shares = false) {
    turns.send(
        [this, number](bool is_silent) {
          (is_silent ? refused : numbers).push_back(number);
          return !is_silent;
        },
        shares);
  }
};

TEST(RequestLimiter, EightAreUnderWayAndTheOthersFollowInOrder) {
  Sent sent;
  for (int i = 0; i < 20; ++i) sent.send(i);
  EXPECT_EQ(sent.numbers.size(), kRequestsAtOnce);
  for (std::size_t ended = 1; ended <= 12; ++ended) {
    sent.turns.ended(false, false);
    ASSERT_EQ(sent.numbers.size(), kRequestsAtOnce + ended);
    EXPECT_EQ(sent.numbers.back(), static_cast<int>(kRequestsAtOnce + ended - 1));
  }
  for (std::size_t i = 0; i < kRequestsAtOnce; ++i) sent.turns.ended(false, false);
  for (int i = 20; i < 40; ++i) sent.send(i);
  EXPECT_EQ(sent.numbers.size(), 20 + kRequestsAtOnce);
}

TEST(RequestLimiter, StreamsOfOneConnectionNeedNone) {
  Sent sent;
  for (int i = 0; i < 10; ++i) sent.send(i);
  EXPECT_EQ(sent.numbers.size(), kRequestsAtOnce);
  sent.turns.ended(true, false);  // the first answer tells that there are streams
  EXPECT_EQ(sent.numbers.size(), 10u);
  for (int i = 10; i < 100; ++i) sent.send(i, true);
  EXPECT_EQ(sent.numbers.size(), 100u);
}

TEST(RequestLimiter, BehindASilentServerNobodyWaitsForATurn) {
  Sent sent;
  for (int i = 0; i < 100; ++i) sent.send(i);
  sent.turns.ended(false, true);
  EXPECT_EQ(sent.refused.size(), 100 - kRequestsAtOnce);
  for (std::size_t i = 1; i < kRequestsAtOnce; ++i) sent.turns.ended(false, true);
  for (int i = 0; i < 20; ++i) sent.send(i);
  EXPECT_EQ(sent.numbers.size(), 2 * kRequestsAtOnce);
}

TEST(RequestLimiter, WhatIsAskedAnewMeanwhileHasItsTurn) {
  Sent sent;
  for (int i = 0; i < 8; ++i) sent.send(i);
  sent.turns.send(
      [&](bool is_silent) {
        sent.send(8);
        return !is_silent;
      },
      false);
  sent.turns.ended(false, true);
  EXPECT_EQ(sent.numbers.back(), 8);
}

}  // namespace
}  // namespace tfile
