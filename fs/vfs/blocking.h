// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cache/cluster_cache.h"
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

// Answers `reply` with what `job` returns (a Result<T>), run on a thread that may block.
template <class T, class Job>
void answer_blocking(ClusterCache& cache, Job job, Reply<T> reply) {
  // std::function wants to be copied, a Reply can not be.
  auto shared = std::make_shared<std::pair<Job, Reply<T>>>(std::move(job), std::move(reply));
  cache.run_blocking([shared] { shared->second(result_of(shared->first)); });
}

}  // namespace tfilefs
