// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cache/cluster_cache.h"
#include "reply.h"

namespace tfilefs {

// Answers `reply` with what `job` returns (a Result<T>), run on a thread that may block.
template <class T, class Job>
void answer_blocking(ClusterCache& cache, Job job, Reply<T> reply) {
  // std::function wants to be copied, a Reply can not be.
  auto shared = std::make_shared<std::pair<Job, Reply<T>>>(std::move(job), std::move(reply));
  cache.run_blocking([shared] { shared->second(shared->first()); });
}

}  // namespace tfilefs
