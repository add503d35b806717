// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "reply.h"
#include "tfile/errnos.h"

namespace tfilefs {

// The result of `job` (a Result<T>), or an error if it throws: a lack of memory, or a bug. A thread that runs the jobs
// of others has no caller that could catch.
template <class Job>
auto result_of(Job&& job) -> decltype(job()) {
  try {
    return job();
  } catch (const std::bad_alloc&) {
    return tfile::fail(ErrorKind::io, "out of memory", -1, tfile::errnos::kNoMemory);
  } catch (const std::exception& error) {
    return tfile::fail(ErrorKind::io, std::string("internal error: ") + error.what());
  }
}

// The same for a job that returns nothing.
template <class Job>
Result<> tried(Job&& job) {
  return result_of([&]() -> Result<> {
    job();
    return {};
  });
}

// Runs a job that returns nothing. If it throws, the replies that it still holds answer that they were dropped.
template <class Job>
void run_caught(Job&& job) {
  (void)tried(job);
}

// A job that answers `reply` with the result of `job` (a Result<T>). If nobody waits for the reply any more when its
// turn comes, `job` is not begun.
template <class T, class Job>
std::function<void()> answering(Job job, Reply<T> reply) {
  // std::function must be copyable, and a Reply is not.
  auto shared = std::make_shared<std::pair<Job, Reply<T>>>(std::move(job), std::move(reply));
  return [shared] {
    auto& [wanted, answer] = *shared;
    if (answer.stop_token().stop_requested()) return answer(cancelled());
    answer(result_of(wanted));
  };
}

}  // namespace tfilefs
