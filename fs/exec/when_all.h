// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "exec/first_error.h"
#include "exec/trampoline.h"
#include "reply.h"

namespace tfilefs {

// The result of steps that have none.
struct NothingMade {};

// Work in steps, each of which answers a reply of its own: see when_all(). `Steps` says whether there is_more(), and
// starts the next: start(made, Reply<>). It lives as long as one of its replies does.
template <class Steps, class Made, class T>
class StepsUnderWay final : public Reply<void>::Sink {
 public:
  static void begin(Steps steps, std::size_t at_most, Made made, Reply<T> reply) {
    auto* work =
        new StepsUnderWay(std::move(steps), std::max<std::size_t>(at_most, 1), std::move(made), std::move(reply));
    work->step()({});  // of the thread that begins the others
  }

  void answer(Result<void> result) override {
    if (!result) failure_.note(std::move(result).error());
    --under_way_;
    loop_.next([this] { go_on(); });
  }
  void release() noexcept override {
    if (--replies_ == 0) delete this;
  }

 private:
  StepsUnderWay(Steps steps, std::size_t at_most, Made made, Reply<T> reply)
      : steps_(std::move(steps)), at_most_(at_most), made_(std::move(made)), reply_(std::move(reply)) {}

  // The reply of the next step.
  Reply<void> step() {
    ++under_way_;
    ++replies_;
    Reply<void>::Sink& sink = *this;
    return {sink, reply_.stop_token()};
  }

  bool is_cancelled() const { return reply_.stop_token().stop_requested(); }

  // A step that throws drops its reply, which notes the error.
  void go_on() {
    while (!has_replied_ && !failure_.is_there() && !is_cancelled() && under_way_ < at_most_ && steps_.is_more()) {
      try {
        steps_.start(made_, step());
      } catch (...) {
      }
    }
    if (!has_replied_ && under_way_ == 0) finish();
  }

  void finish() {
    const bool is_ended = failure_.is_there() || is_cancelled();
    if (!is_ended && steps_.is_more()) return;  // the last answer has come since, and goes on
    has_replied_ = true;                        // steps_ are asked no more, whatever comes of it
    if (failure_.is_there()) return reply_(tl::unexpected<Error>(failure_.get()));
    if (is_ended) return reply_(cancelled());
    if constexpr (std::is_void_v<T>)
      reply_({});
    else
      reply_(std::move(made_));
  }

  Steps steps_;
  const std::size_t at_most_;
  Made made_;
  Reply<T> reply_;
  bool has_replied_ = false;
  std::atomic<std::size_t> under_way_ = 0, replies_ = 0;
  FirstError failure_;
  Trampoline loop_;
};

// Steps that are numbered from 0 on.
template <class Step>
struct NumberedSteps {
  std::size_t count;
  Step step;
  std::size_t next = 0;
  bool is_more() const { return next < count; }
  void start(NothingMade&, Reply<void> reply) { step(next++, std::move(reply)); }
  template <class Made>
  void start(Made& made, Reply<void> reply) {
    step(next++, made, std::move(reply));
  }
};

// Calls step(i, Reply<>) for i = 0, 1, ..., count - 1, so many at the same time at most, and replies when all have
// answered. The first error is the reply: then no further step is begun, and those under way are waited for. So it is
// with cancelled() if the stop token of the reply, which is that of each step, waits no longer. One thread at a time
// begins steps, that of the caller or of an answer; steps that answer at once take no stack. `step`, and what it owns,
// stays where it is until each step has answered.
template <class Step>
void when_all(std::size_t count, std::size_t at_most, Step step, Reply<void> reply) {
  using Steps = NumberedSteps<Step>;
  StepsUnderWay<Steps, NothingMade, void>::begin({count, std::move(step)}, at_most, {}, std::move(reply));
}

// The same where the steps make something, which is the reply: step(i, Made&, Reply<>). Steps under way at the same
// time may change it at the same time.
template <class Made, class Step, class T>
void when_all(std::size_t count, std::size_t at_most, Made made, Step step, Reply<T> reply) {
  using Steps = NumberedSteps<Step>;
  StepsUnderWay<Steps, Made, T>::begin({count, std::move(step)}, at_most, std::move(made), std::move(reply));
}

template <class IsMore, class Step>
struct StepsWhile {
  IsMore is_more;
  Step step;
  void start(NothingMade&, Reply<void> reply) { step(std::move(reply)); }
};

// The same where the steps are not numbered: step(Reply<>) again and again while is_more().
template <class IsMore, class Step>
void while_more(IsMore is_more, std::size_t at_most, Step step, Reply<void> reply) {
  using Steps = StepsWhile<IsMore, Step>;
  StepsUnderWay<Steps, NothingMade, void>::begin({std::move(is_more), std::move(step)}, at_most, {}, std::move(reply));
}

}  // namespace tfilefs
