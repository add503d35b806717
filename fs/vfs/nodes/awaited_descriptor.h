// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "exec/answering.h"
#include "exec/when_all.h"
#include "on_behalf.h"
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
  static constexpr std::size_t kTriesMax = 200;
  static constexpr std::chrono::milliseconds kPause{10};
  struct Tries {
    Ask ask;
    std::size_t count;
    std::optional<Result<T>> result;  // of the last one, if it is the answer
  };
  auto tries = std::make_shared<Tries>(Tries{std::move(ask), 0, std::nullopt});
  auto try_once = [&cache, tries](Reply<void> tried_it) {
    auto take = [&cache, tries](Result<T> result, Reply<void> done) {
      const bool is_tried_again = !result && lacks_descriptor(result.error()) && ++tries->count < kTriesMax;
      if (!is_tried_again) tries->result = std::move(result);
      if (!is_tried_again) return done({});
      // The thread of the timers waits for nothing.
      auto again = [&cache, shared = std::make_shared<Reply<void>>(std::move(done))] {
        run_caught([&] { run_job(cache, [shared] { (*shared)({}); }); });
      };
      cache.exec().timers.after(kPause, std::move(again));
    };
    tries->ask(on_behalf_of<T>(std::move(tried_it), std::move(take)));
  };
  while_more([tries] { return !tries->result; }, 1, std::move(try_once),
             answer_with<void>(std::move(reply), [tries] { return *std::move(tries->result); }));
}

// As answer_blocking, for a job that only reads.
template <class T, class Job>
void answer_opening(ClusterCache& cache, Job job, Reply<T> reply) {
  auto ask = [&cache, job = std::move(job)](Reply<T> done) { answer_blocking(cache, job, std::move(done)); };
  with_descriptor(cache, std::move(ask), std::move(reply));
}

}  // namespace tfilefs
