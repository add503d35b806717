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

namespace tfilefs {

// What `job` returns (a Result<T>), or an error for what it throws: a lack of memory, or a bug. A thread that runs jobs
// of others has nobody above it who could catch.
template <class Job>
auto result_of(Job&& job) -> decltype(job()) {
  try {
    return job();
  } catch (const std::bad_alloc&) {
    return tfile::fail(ErrorKind::io, "out of memory", -1, ENOMEM);
  } catch (const std::exception& error) {
    return tfile::fail(ErrorKind::io, std::string("internal error: ") + error.what());
  }
}

// Runs a job that has nothing to return. Where it throws, the replies that it still holds say that they were dropped.
template <class Job>
void run_caught(Job&& job) {
  (void)result_of([&]() -> Result<> {
    job();
    return {};
  });
}

// A job that answers `reply` with what `job` returns (a Result<T>).
template <class T, class Job>
std::function<void()> answering(Job job, Reply<T> reply) {
  // std::function wants to be copied, a Reply can not be.
  auto shared = std::make_shared<std::pair<Job, Reply<T>>>(std::move(job), std::move(reply));
  return [shared] { shared->second(result_of(shared->first)); };
}

}  // namespace tfilefs
