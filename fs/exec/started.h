// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "exec/answering.h"
#include "exec/thread_pool.h"

namespace tfilefs {

// Hands a job (copyable) over to a pool, and returns its result (a Result<T>), which can be waited for. What the job
// throws becomes an error, as in result_of().
template <class Job>
auto started(ThreadPool& pool, Urgency urgency, Job job) {
  auto promise = std::make_shared<std::promise<decltype(job())>>();
  auto result = promise->get_future();
  pool.run([promise, job = std::move(job)]() mutable { promise->set_value(result_of(job)); }, urgency);
  return result;
}

}  // namespace tfilefs
