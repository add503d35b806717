// SPDX-License-Identifier: Apache-2.0
#include "on_behalf.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "read_done.h"

namespace tfilefs {
namespace {

// A reply whose answer is kept, and which somebody waits for.
struct Asked {
  Reply<int> reply() {
    return {[this](Result<int> result) { answer = std::move(result); }, stop.get_token()};
  }
  std::stop_source stop;
  std::optional<Result<int>> answer;
};

const auto add_one = [](int value, Reply<int> told) { told(value + 1); };

TEST(OnBehalf, AValueGoesOn) {
  Asked asked;
  value_for<int>(asked.reply(), add_one)(41);
  ASSERT_TRUE(asked.answer);
  EXPECT_EQ(asked.answer->value(), 42);
}

TEST(OnBehalf, AnErrorIsTheAnswer) {
  Asked asked;
  value_for<int>(asked.reply(), add_one)(tfile::fail(ErrorKind::io, "lost", -1, EIO));
  ASSERT_TRUE(asked.answer);
  EXPECT_EQ(asked.answer->error().text, "lost");
}

TEST(OnBehalf, AStepIsGivenUpWithItsAsker) {
  Asked asked;
  bool is_given_up = false;
  const auto step = value_for<int>(asked.reply(), add_one);
  const auto step_of_step = [&](Reply<int> inner) {
    const auto next = on_behalf_of<int>(std::move(inner), [](Result<int> result, Reply<int> told) { told(result); });
    asked.stop.request_stop();
    is_given_up = next.stop_token().stop_requested();
  };
  EXPECT_FALSE(step.stop_token().stop_requested());
  step_of_step(Reply<int>([](Result<int>) {}, step.stop_token()));
  EXPECT_TRUE(is_given_up);
  EXPECT_TRUE(step.stop_token().stop_requested());
}

TEST(OnBehalf, AStepThatIsDroppedAnswers) {
  Asked asked;
  (void)value_for<int>(asked.reply(), add_one);
  ASSERT_TRUE(asked.answer);
  EXPECT_FALSE(*asked.answer);
}

TEST(OnBehalf, AnAnswerIsMadeOfTheValue) {
  Asked asked;
  answer_with<int>(asked.reply(), [](int value) { return 2 * value; })(21);
  ASSERT_TRUE(asked.answer);
  EXPECT_EQ(asked.answer->value(), 42);
  answer_with<int>(asked.reply(), [](int) -> Result<int> { return tfile::fail(ErrorKind::damaged, "odd"); })(1);
  EXPECT_EQ(asked.answer->error().text, "odd");
  answer_with<void>(asked.reply(), [] { return 7; })({});
  EXPECT_EQ(asked.answer->value(), 7);
}

TEST(OnBehalf, TheValueIsGoneWhenTheStepIsAnswered) {
  bool is_gone = false;
  auto value = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = value;
  Reply<void> reply([&](Result<>) { is_gone = watched.expired(); });
  answer_with<std::shared_ptr<int>>(std::move(reply), [](const std::shared_ptr<int>&) {})(std::move(value));
  EXPECT_TRUE(is_gone);
}

TEST(OnBehalf, AResultIsSeenAndGoesOn) {
  Asked asked;
  seen_by(asked.reply(), [](Result<int>& result) { *result += 1; })(41);
  EXPECT_EQ(asked.answer->value(), 42);
  bool is_seen = false;
  seen_by(asked.reply(), [&](const Result<int>& result) { is_seen = !result; })(tfile::fail(ErrorKind::io, "lost"));
  EXPECT_TRUE(is_seen);
  EXPECT_EQ(asked.answer->error().text, "lost");
}

TEST(OnBehalf, WhatIsNotThereIsNoError) {
  Asked asked;
  const auto or_zero = [](std::optional<int> found, Reply<int> told) { told(found.value_or(0)); };
  found_or_not<int>(asked.reply(), or_zero)(7);
  EXPECT_EQ(asked.answer->value(), 7);
  found_or_not<int>(asked.reply(), or_zero)(tfile::fail(ErrorKind::not_found, "gone"));
  EXPECT_EQ(asked.answer->value(), 0);
  found_or_not<int>(asked.reply(), or_zero)(tfile::fail(ErrorKind::io, "lost"));
  EXPECT_EQ(asked.answer->error().text, "lost");
}

TEST(OnBehalf, AnAnswerIsMadeOfTheResult) {
  Asked asked;
  const auto size_of = [](const Result<int>& result) -> Result<int> {
    if (!result) return static_cast<int>(result.error().text.size());
    return *result;
  };
  answer_of_result<int>(asked.reply(), size_of)(7);
  EXPECT_EQ(asked.answer->value(), 7);
  answer_of_result<int>(asked.reply(), size_of)(tfile::fail(ErrorKind::io, "lost"));
  EXPECT_EQ(asked.answer->value(), 4);
}

TEST(OnBehalf, WhatIsBegunMayNotBeGivenUp) {
  Asked asked;
  asked.stop.request_stop();
  EXPECT_FALSE(uninterrupted(asked.reply()).stop_token().stop_requested());
  // The step alone: what follows it is given up.
  bool is_given_up = false;
  const auto follow = [&](Result<int> result, Reply<int> told) {
    is_given_up = told.stop_token().stop_requested();
    told(std::move(result));
  };
  Reply<int> step = uninterrupted(on_behalf_of<int>(asked.reply(), follow));
  EXPECT_FALSE(step.stop_token().stop_requested());
  step(1);
  EXPECT_TRUE(is_given_up);
  EXPECT_EQ(asked.answer->value(), 1);
}

TEST(ReadDone, AReadThatIsDroppedAnswers) {
  std::optional<Result<>> answer;
  const auto make = [&] { return read_done(Reply<void>([&](Result<> result) { answer = std::move(result); })); };
  make()({});
  EXPECT_TRUE(answer && *answer);
  answer.reset();
  { const tfile::Source::ReadDone dropped = make(); }
  EXPECT_TRUE(answer && !*answer);
}

}  // namespace
}  // namespace tfilefs
