// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <memory>
#include <utility>

#include "exec/answering.h"
#include "exec/task_queue.h"

namespace tfilefs {

// Hands a job (copyable) over to a ThreadPool or an Arena, and returns its result (a Result<T>), which can be waited
// for. What the job throws becomes an error, as in result_of().
template <class Executor, class Job>
auto started(Executor& executor, Urgency urgency, Job job) {
  auto promise = std::make_shared<std::promise<decltype(job())>>();
  auto result = promise->get_future();
  executor.run([promise, job = std::move(job)]() mutable { promise->set_value(result_of(job)); }, urgency);
  return result;
}

}  // namespace tfilefs
