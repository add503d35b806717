// SPDX-License-Identifier: Apache-2.0
#include "vfs/open_retries.h"

#include <gtest/gtest.h>

#include <chrono>

#include "fs/standing_clock.h"

namespace tfilefs {
namespace {

TEST(OpenRetries, AreOfOneThreadAndOnePath) {
  OpenRetries retries;
  retries.expect(7, 100, 3);
  EXPECT_FALSE(retries.take(8, 100, 3));
  EXPECT_FALSE(retries.take(7, 101, 3));
  EXPECT_TRUE(retries.take(7, 100, 3));
}

TEST(OpenRetries, AreTakenOnce) {
  OpenRetries retries;
  retries.expect(7, 100, 3);
  EXPECT_TRUE(retries.take(7, 100, 4)) << "of a later state";
  EXPECT_FALSE(retries.take(7, 100, 4));
}

TEST(OpenRetries, EndWithWhatWasThereBefore) {
  OpenRetries retries;
  retries.expect(7, 100, 3);
  EXPECT_FALSE(retries.take(7, 100, 2));
  EXPECT_FALSE(retries.take(7, 100, 3)) << "another call by now";
}

TEST(OpenRetries, LastFromTheAnswerOfTheSecondLookUp) {
  StandingClock clock;
  OpenRetries retries(clock);
  retries.expect(7, 100, 3);
  clock.move(std::chrono::milliseconds(500));
  EXPECT_TRUE(retries.awaits(7)) << "looks up once more";
  clock.move(std::chrono::minutes(1));
  retries.renew(7);
  clock.move(std::chrono::milliseconds(500));
  EXPECT_TRUE(retries.take(7, 100, 3));
  retries.expect(7, 100, 3);
  clock.move(std::chrono::minutes(1));
  EXPECT_FALSE(retries.awaits(7));
  EXPECT_FALSE(retries.take(7, 100, 3)) << "it never came back";
}

}  // namespace
}  // namespace tfilefs
