// SPDX-License-Identifier: Apache-2.0
#include "exec/trampoline.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "reply.h"

namespace tfilefs {
namespace {

// Asks a series of questions, one after the other, then fulfils the promise.
template <class Ask>
class Asking : public std::enable_shared_from_this<Asking<Ask>> {
 public:
  Asking(Ask ask, int questions) : ask_(std::move(ask)), left_(questions) {}

  void next() {
    loop_.next([self = this->shared_from_this()] { self->step(); });
  }
  // The sum of the answers, when all have come.
  int wait() { return sum_.get_future().get(); }

 private:
  void step() {
    if (left_-- == 0) return sum_.set_value(answers_);
    ask_(Reply<int>([self = this->shared_from_this()](Result<int> answer) {
      self->answers_ += *answer;
      self->next();
    }));
  }
  Ask ask_;
  int left_, answers_ = 0;
  std::promise<int> sum_;
  Trampoline loop_;
};

TEST(Trampoline, AMillionAnswersThatAreThereTakeNoStack) {
  const auto at_once = [](Reply<int> reply) { reply(1); };
  auto asking = std::make_shared<Asking<decltype(at_once)>>(at_once, 1'000'000);
  asking->next();
  EXPECT_EQ(asking->wait(), 1'000'000);
}

TEST(Trampoline, RunsEachStepOnceWhoeverAnswers) {
  std::vector<std::thread> threads;  // needs no lock, since steps never run at the same time
  std::mt19937 random(5);
  const auto by_anybody = [&](Reply<int> reply) {
    if (random() % 4 > 0) return reply(1);
    threads.emplace_back([reply = std::move(reply)]() mutable { reply(1); });
  };
  auto asking = std::make_shared<Asking<decltype(by_anybody)>>(by_anybody, 2000);
  asking->next();
  EXPECT_EQ(asking->wait(), 2000);
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tfilefs
