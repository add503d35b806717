// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "reply.h"
#include "vfs/nodes/blocking.h"

namespace tfilefs {

// Whether the process, or the machine, had no descriptor left.
inline bool lacks_descriptor(const Error& error) {
  return error.system_errno == EMFILE || error.system_errno == ENFILE;
}

// Answers with what `ask`, a function of a Reply<T> that only reads, answers. While no descriptor is left it is called
// again, for two seconds: files that are read at present soon close.
template <class T, class Ask>
void with_descriptor(ClusterCache& cache, Ask ask, Reply<T> reply) {
  struct Asking : std::enable_shared_from_this<Asking> {
    Asking(ClusterCache& cache_, Ask ask_, Reply<T> reply_)
        : cache(cache_), ask(std::move(ask_)), reply(std::move(reply_)) {}
    void go_on() {
      auto take = [self = this->shared_from_this()](Result<T> result) { self->take(std::move(result)); };
      ask(Reply<T>(std::move(take), reply.stop_token()));
    }
    // The thread of the timers waits for nothing.
    void go_on_by_job() {
      const Result<> begun = tried([this] { run_job(cache, [self = this->shared_from_this()] { self->go_on(); }); });
      if (!begun) reply(tl::unexpected<Error>(begun.error()));
    }
    void take(Result<T> result) {
      constexpr int kTriesMax = 200;
      constexpr std::chrono::milliseconds kPause{10};
      const bool is_over = ++tries > kTriesMax || reply.stop_token().stop_requested();
      if (result || !lacks_descriptor(result.error()) || is_over) return reply(std::move(result));
      cache.exec().timers.after(kPause, [self = this->shared_from_this()] { self->go_on_by_job(); });
    }

    ClusterCache& cache;
    Ask ask;
    Reply<T> reply;
    int tries = 0;
  };
  std::make_shared<Asking>(cache, std::move(ask), std::move(reply))->go_on();
}

// As answer_blocking, for a job that only reads.
template <class T, class Job>
void answer_opening(ClusterCache& cache, Job job, Reply<T> reply) {
  auto ask = [&cache, job = std::move(job)](Reply<T> told) { answer_blocking(cache, job, std::move(told)); };
  with_descriptor(cache, std::move(ask), std::move(reply));
}

}  // namespace tfilefs
