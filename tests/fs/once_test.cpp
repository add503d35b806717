// SPDX-License-Identifier: Apache-2.0
#include "once.h"

#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <string>

#include "fs/failing_allocations.h"

namespace tfilefs {
namespace {

TEST(Once, IsMadeOnceForAllWhoAsk) {
  Once<int> once;
  std::optional<Reply<int>> maker;
  int made = 0;
  std::vector<int> answers;
  const auto ask = [&] {
    once.get([&](Reply<int> reply) { ++made, maker.emplace(std::move(reply)); },
             Reply<int>([&](Result<int> result) { answers.push_back(result.value()); }));
  };
  ask();
  ask();
  EXPECT_EQ(once.peek(), std::nullopt);
  EXPECT_TRUE(answers.empty());
  (*maker)(7);
  ask();
  EXPECT_EQ(answers, (std::vector<int>{7, 7, 7}));
  EXPECT_EQ(made, 1);
  EXPECT_EQ(once.peek(), 7);
}

int times_made(ErrorKind kind) {
  Once<int> once;
  int made = 0;
  for (int i = 0; i < 2; ++i) {
    once.get([&](Reply<int> reply) { ++made, reply(tfile::fail(kind, "no")); },
             Reply<int>([&](Result<int> result) { EXPECT_EQ(result.error().kind, kind); }));
  }
  return made;
}

TEST(Once, RemembersDamageAndTriesStorageAgain) {
  EXPECT_EQ(times_made(ErrorKind::damaged), 1);
  EXPECT_EQ(times_made(ErrorKind::unsupported), 1);
  EXPECT_EQ(times_made(ErrorKind::io), 2);
  EXPECT_EQ(times_made(ErrorKind::timed_out), 2);
}

TEST(Once, IsAskedToStopWhenTheLastWhoWaitsHasGone) {
  Once<int> once;
  std::optional<Reply<int>> maker;
  std::stop_source first, second;
  std::vector<std::optional<int>> answers;
  const auto ask = [&](std::stop_token stop) {
    once.get(
        [&](Reply<int> reply) { maker.emplace(std::move(reply)); },
        Reply<int>([&](Result<int> result) { answers.push_back(result ? std::optional<int>(*result) : std::nullopt); },
                   std::move(stop)));
  };
  ask(first.get_token());
  ask(second.get_token());
  first.request_stop();
  EXPECT_FALSE(maker->stop_token().stop_requested());
  second.request_stop();
  EXPECT_TRUE(maker->stop_token().stop_requested());
  Reply<int> ending = *std::move(maker);

  // A request that comes now must not be told that the value was given up.
  ask({});
  EXPECT_FALSE(maker->stop_token().stop_requested());
  ending(cancelled());
  EXPECT_EQ(answers, (std::vector<std::optional<int>>{std::nullopt, std::nullopt}));
  (*maker)(7);
  EXPECT_EQ(answers.back(), 7);
  EXPECT_EQ(once.peek(), 7);
}

TEST(Once, IsMadeForWhoHasNoWayToGo) {
  Once<int> once;
  std::optional<Reply<int>> maker;
  std::stop_source stop;
  const auto start = [&](Reply<int> reply) { maker.emplace(std::move(reply)); };
  once.get(start, Reply<int>([](Result<int>) {}, stop.get_token()));
  once.get(start, Reply<int>([](Result<int>) {}));
  stop.request_stop();
  EXPECT_FALSE(maker->stop_token().stop_requested());
  (*maker)(1);
}

TEST(Once, AMakerThatIsDroppedIsAnError) {
  Once<int> once;
  ErrorKind kind = ErrorKind::exists;
  once.get([](Reply<int>) {}, Reply<int>([&](Result<int> result) { kind = result.error().kind; }));
  EXPECT_EQ(kind, ErrorKind::io);
}

// Each allocation of three calls fails in turn, also with all that follow: everyone is answered, and the value is made
// by who comes next.
TEST(Once, AnswersAllWhereMemoryIsWanting) {
  if (!FailingAllocations::is_possible()) GTEST_SKIP() << "a sanitizer has operator new";
  for (const int more : {0, 1000}) {
    bool failed = true;
    for (int number = 0; failed; ++number) {
      Once<std::string> once;
      std::optional<Reply<std::string>> maker;
      const std::stop_source stop;
      int asked = 0, answers = 0;
      const auto start = [&](Reply<std::string> reply) { maker.emplace(std::move(reply)); };
      const auto ask = [&] {
        Reply<std::string> reply([&](const Result<std::string>&) { ++answers; }, stop.get_token());
        ++asked;
        once.get(start, std::move(reply));
      };
      {
        const FailingAllocations failing(number, more);
        for (int i = 0; i < 3; ++i) {
          try {
            ask();
          } catch (const std::bad_alloc&) {
          }
        }
        try {
          if (maker) (*maker)(std::string(100, 'x'));
        } catch (const std::bad_alloc&) {
        }
        failed = failing.happened();
        maker.reset();
      }
      EXPECT_EQ(answers, asked) << number;
      ask();
      if (maker) (*maker)(std::string("made"));
      ask();
      EXPECT_EQ(answers, asked) << number;
      EXPECT_TRUE(once.peek()) << number;
    }
  }
}

TEST(Reply, IsAnsweredWhereMemoryIsWanting) {
  if (!FailingAllocations::is_possible()) GTEST_SKIP() << "a sanitizer has operator new";
  int number = 0;
  for (bool failed = true; failed; ++number) {
    std::optional<Error> told;
    {
      const FailingAllocations failing(number, 1000);
      try {
        Reply<int> first([&](Result<int> result) { told = result ? Error() : std::move(result).error(); });
        Reply<int> second([first = std::move(first)](Result<int> result) mutable { first(std::move(result)); });
        Reply<int> third([second = std::move(second)](Result<int> result) mutable {
          const std::string more(100, 'x');
          second(std::move(result));
        });
        third(1);
      } catch (const std::bad_alloc&) {
      }
      failed = failing.happened();
    }
    if (number == 0) continue;  // there was nobody to be told
    ASSERT_TRUE(told) << number;
    EXPECT_EQ(told->system_errno, failed ? ENOMEM : 0) << number;
  }
  EXPECT_GT(number, 4);
}

}  // namespace
}  // namespace tfilefs
