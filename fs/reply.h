// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "errors.h"

namespace tfilefs {

// The error of a request that was dropped: by an exception that passes by, for want of memory or of a thread, or by a
// mistake. The first has a text so short that it takes no memory.
inline Error dropped_error() noexcept {
  try {
    if (std::uncaught_exceptions() == 0) return {ErrorKind::io, "request was dropped without a reply"};
  } catch (const std::bad_alloc&) {
  }
  return no_memory("no memory").value();
}

// A promise to answer exactly once, from any thread. Destroyed unanswered it answers dropped_error(), so that no
// request is lost.
template <class T>
class [[nodiscard]] Reply {
 public:
  // The receiver of the answer. One may stand behind several replies, for which nothing is allocated then. Each calls
  // answer() once, then release(), and uses it no more.
  class Sink {
   public:
    virtual void answer(Result<T>) = 0;
    virtual void release() noexcept = 0;

   protected:
    ~Sink() = default;
  };

  Reply() = default;
  Reply(Sink& sink, std::stop_token stop) : sink_(&sink), stop_token_(std::move(stop)) {}
  // Without a stop token, so that nothing for it is ever given up: where that is meant, it is written.
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Reply>>>
  explicit Reply(F function) : sink_(new Function<F>(std::move(function))) {}
  // With the stop_token() of another reply, which this one serves.
  template <class F>
  Reply(F function, std::stop_token stop) : sink_(new Function<F>(std::move(function))), stop_token_(std::move(stop)) {}
  void set_stop_token(std::stop_token stop) { stop_token_ = std::move(stop); }
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&& other) noexcept {
    abandon();
    sink_ = std::move(other.sink_);
    stop_token_ = std::move(other.stop_token_);
    return *this;
  }
  ~Reply() { abandon(); }

  // Does not throw: who answers has others to answer, too. Where what waits for it throws, for want of memory, the
  // replies that it holds answer that, while the exception passes by.
  void operator()(Result<T> result) noexcept {
    try {
      if (auto sink = std::move(sink_)) sink->answer(std::move(result));
    } catch (...) {
    }
  }
  bool answered() const { return !sink_; }
  // Stopped when the asking process waits no longer: long work may then end early, and must still answer. Never stopped
  // for a reply that was made without one.
  const std::stop_token& stop_token() const { return stop_token_; }

 private:
  template <class F>
  struct Function final : Sink {
    explicit Function(F f) : function(std::move(f)) {}
    void answer(Result<T> result) override { function(std::move(result)); }
    void release() noexcept override { delete this; }
    F function;
  };
  struct Release {
    void operator()(Sink* sink) const noexcept { sink->release(); }
  };
  void abandon() noexcept {
    if (sink_) (*this)(tl::unexpected<Error>(dropped_error()));
  }

  std::unique_ptr<Sink, Release> sink_;
  std::stop_token stop_token_;
};

}  // namespace tfilefs
