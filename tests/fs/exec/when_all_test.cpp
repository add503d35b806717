// SPDX-License-Identifier: Apache-2.0
#include "exec/when_all.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "exec/for_each.h"
#include "fs/failing_allocations.h"

namespace tfilefs {
namespace {

// Steps that wait for their answers, and the reply of all.
struct WaitingSteps {
  void begin(std::size_t count, std::size_t at_most) {
    auto step = [this, alive = alive_](std::size_t, int& made, Reply<void> told) {
      ++made;
      told_.push_back(std::move(told));
    };
    when_all(count, at_most, 0, std::move(step), reply());
  }
  Reply<int> reply() {
    return {[this](Result<int> result) { answer = std::move(result); }, stop.get_token()};
  }
  void finish(std::size_t step) { told_[step]({}); }
  void fail(std::size_t step, const std::string& text) { told_[step](tfile::fail(ErrorKind::io, text, -1, EIO)); }
  void drop(std::size_t step) { told_[step] = {}; }
  std::size_t begun() const { return told_.size(); }
  bool is_gone() const { return alive_.use_count() == 1; }

  std::stop_source stop;
  std::optional<Result<int>> answer;

 private:
  std::shared_ptr<int> alive_ = std::make_shared<int>();
  std::vector<Reply<void>> told_;
};

TEST(WhenAll, SoManyAreUnderWayAtTheSameTime) {
  WaitingSteps steps;
  steps.begin(5, 2);
  EXPECT_EQ(steps.begun(), 2u);
  steps.finish(1);
  EXPECT_EQ(steps.begun(), 3u);
  for (const std::size_t step : {0, 2, 3}) steps.finish(step);
  EXPECT_FALSE(steps.answer);
  steps.finish(4);
  ASSERT_TRUE(steps.answer && *steps.answer);
  EXPECT_EQ(**steps.answer, 5);
  EXPECT_TRUE(steps.is_gone());
}

TEST(WhenAll, OfNoStepsIsDoneAtOnce) {
  WaitingSteps steps;
  steps.begin(0, 0);
  ASSERT_TRUE(steps.answer && *steps.answer);
  EXPECT_TRUE(steps.is_gone());
}

TEST(WhenAll, TheFirstErrorIsTheAnswerWhenAllThatWereBegunHaveAnswered) {
  WaitingSteps steps;
  steps.begin(9, 3);
  steps.fail(1, "first");
  steps.fail(0, "second");
  EXPECT_EQ(steps.begun(), 3u);
  EXPECT_FALSE(steps.answer);
  steps.finish(2);
  ASSERT_TRUE(steps.answer && !*steps.answer);
  EXPECT_EQ(steps.answer->error().text, "first");
  EXPECT_EQ(steps.answer->error().system_errno, EIO);
  EXPECT_TRUE(steps.is_gone());
}

TEST(WhenAll, BeginsNoMoreWhenNobodyWaits) {
  WaitingSteps steps;
  steps.begin(9, 2);
  steps.stop.request_stop();
  steps.finish(0);
  EXPECT_EQ(steps.begun(), 2u);
  EXPECT_FALSE(steps.answer);
  steps.finish(1);
  ASSERT_TRUE(steps.answer && !*steps.answer);
  EXPECT_EQ(steps.answer->error().system_errno, ECANCELED);
}

TEST(WhenAll, BeginsNoMoreWhenNobodyWaitsAlsoIfStepsAnswerAtOnce) {
  std::stop_source stop;
  std::size_t begun = 0;
  std::optional<Result<>> answer;
  const auto step = [&](std::size_t i, Reply<void> told) {
    ++begun;
    if (i == 3) stop.request_stop();
    told({});
  };
  when_all(9, 1, step, Reply<void>([&](Result<> result) { answer = std::move(result); }, stop.get_token()));
  EXPECT_EQ(begun, 4u);
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().system_errno, ECANCELED);
}

TEST(WhenAll, AStepHasTheAskerOfAll) {
  std::stop_source stop;
  bool is_given_up = false;
  const auto step = [&](std::size_t, Reply<void> told) {
    stop.request_stop();
    is_given_up = told.stop_token().stop_requested();
  };
  when_all(1, 1, step, Reply<void>([](Result<>) {}, stop.get_token()));
  EXPECT_TRUE(is_given_up);
}

TEST(WhenAll, AStepThatIsDroppedAtAnyPointAnswers) {
  for (std::size_t dropped = 0; dropped < 5; ++dropped) {
    for (const std::size_t at_most : {1, 2, 9}) {
      WaitingSteps steps;
      steps.begin(5, at_most);
      for (std::size_t i = 0; i < steps.begun(); ++i) i == dropped ? steps.drop(i) : steps.finish(i);
      ASSERT_TRUE(steps.answer && !*steps.answer) << dropped << " of " << at_most;
      EXPECT_TRUE(steps.is_gone());
    }
  }
}

TEST(WhenAll, AStepThatThrowsEndsIt) {
  int begun = 0;
  std::optional<Result<>> answer;
  const auto step = [&](std::size_t i, Reply<void> told) {
    ++begun;
    if (i == 2) throw std::bad_alloc();
    told({});
  };
  when_all(9, 2, step, Reply<void>([&](Result<> result) { answer = std::move(result); }));
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().system_errno, ENOMEM);
  EXPECT_EQ(begun, 3);
}

TEST(WhenAll, AnswersIfMemoryIsOut) {
  if (!FailingAllocations::is_possible()) GTEST_SKIP() << "the sanitizer has an operator new of its own";
  bool failed = true;
  for (int number = 0; failed; ++number) {
    int answers = 0;
    Reply<std::unique_ptr<int>> reply([&](const auto&) { ++answers; });
    const FailingAllocations failing(number);
    try {
      const auto step = [](std::size_t, std::unique_ptr<int>& made, Reply<void> told) {
        made = std::make_unique<int>(1);
        told({});
      };
      when_all(3, 2, std::unique_ptr<int>(), step, std::move(reply));
    } catch (const std::bad_alloc&) {
    }
    failed = failing.happened();
    EXPECT_EQ(answers, 1) << number;
  }
}

TEST(WhenAll, NothingIsAllocatedForAStep) {
  if (!FailingAllocations::is_possible()) GTEST_SKIP() << "the sanitizer has an operator new of its own";
  bool is_done = false;
  Reply<void> reply([&](Result<> result) { is_done = result.has_value(); });
  const FailingAllocations failing(1, 1000);
  when_all(
      1000, 3, [](std::size_t, Reply<void> told) { told({}); }, std::move(reply));
  EXPECT_TRUE(is_done);
  EXPECT_FALSE(failing.happened());
}

TEST(WhenAll, AMillionStepsThatAreDoneTakeNoStack) {
  for (const std::size_t at_most : {1, 3}) {
    std::optional<Result<std::size_t>> answer;
    const auto step = [](std::size_t i, std::size_t& sum, Reply<void> told) {
      sum += i % 2;
      told({});
    };
    when_all(1'000'000, at_most, std::size_t{0}, step, Reply<std::size_t>([&](auto result) { answer = result; }));
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ(**answer, 500'000u);
  }
}

TEST(WhenAll, OneThreadAtATimeBeginsStepsWhoeverAnswers) {
  std::vector<std::thread> threads;  // needs no lock
  std::mt19937 random(5);
  std::promise<int> all;
  const auto step = [&](std::size_t, int& begun, Reply<void> told) {
    if (random() % 4 > 0) return told({});
    ++begun;
    threads.emplace_back([told = std::move(told)]() mutable { told({}); });
  };
  when_all(2000, 3, 0, step, Reply<int>([&](Result<int> result) { all.set_value(*result); }));
  const int others = all.get_future().get();
  EXPECT_EQ(static_cast<std::size_t>(others), threads.size());
  for (auto& thread : threads) thread.join();
}

TEST(WhileMore, AsksBeforeEachStepWhetherThereIsOne) {
  int left = 3;
  std::vector<Reply<void>> told;
  bool is_done = false;
  while_more([&] { return left > 0; }, 1,
             [&](Reply<void> step) {
               --left;
               told.push_back(std::move(step));
             },
             Reply<void>([&](Result<> result) { is_done = result.has_value(); }));
  for (std::size_t i = 0; i < told.size(); ++i) {
    EXPECT_FALSE(is_done);
    Reply<void> step = std::move(told[i]);
    step({});
  }
  EXPECT_EQ(told.size(), 3u);
  EXPECT_TRUE(is_done);
}

TEST(WhileMore, IsNotAskedOnceItHasReplied) {
  int left = 2, begun = 0;
  const auto step = [&](Reply<void> told) {
    --left;
    ++begun;
    told({});
  };
  while_more([&] { return left > 0; }, 2, step, Reply<void>([&](Result<>) { left = 9; }));
  EXPECT_EQ(begun, 2);
}

TEST(ForEach, OneAfterTheOtherUntilAnError) {
  std::vector<std::size_t> begun;
  std::optional<Reply<void>> waiting;
  std::optional<Result<>> answer;
  const auto step = [&](std::size_t i, Reply<void> told) {
    begun.push_back(i);
    if (i == 1) return waiting.emplace(std::move(told)), void();
    if (i == 3) return told(tfile::fail(ErrorKind::damaged, "third"));
    told({});
  };
  for_each(9, step, Reply<void>([&](Result<> result) { answer = std::move(result); }));
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1}));
  Reply<void> second = *std::move(waiting);
  second({});
  EXPECT_EQ(begun, (std::vector<std::size_t>{0, 1, 2, 3}));
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().text, "third");
}

}  // namespace
}  // namespace tfilefs
