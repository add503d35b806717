// SPDX-License-Identifier: Apache-2.0
#include "exec/answering.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tfilefs {
namespace {

struct Asked {
  std::stop_source stop;
  Result<int> told = 0;
  int begun = 0;

  std::function<void()> job(int result) {
    Reply<int> reply([this](Result<int> answer) { told = std::move(answer); }, stop.get_token());
    return answering(
        [this, result]() -> Result<int> {
          ++begun;
          if (result < 0) throw std::runtime_error("a bug");
          return result;
        },
        std::move(reply));
  }
};

TEST(Answering, TellsTheResult) {
  Asked asked;
  asked.job(7)();
  EXPECT_EQ(asked.told, 7);
}

TEST(Answering, WhatNobodyWaitsForAnyMoreIsNotBegun) {
  Asked asked;
  const auto job = asked.job(7);
  asked.stop.request_stop();
  job();
  EXPECT_EQ(asked.begun, 0);
  EXPECT_EQ(asked.told.error().system_errno, ECANCELED);
}

TEST(Answering, AnExceptionIsAnError) {
  Asked asked;
  asked.job(-1)();
  EXPECT_EQ(asked.told.error().text, "internal error: a bug");
}

TEST(Answering, AJobThatIsDroppedAnswers) {
  Asked asked;
  { const auto job = asked.job(7); }
  EXPECT_FALSE(asked.told);
  EXPECT_EQ(asked.begun, 0);
}

}  // namespace
}  // namespace tfilefs
