// SPDX-License-Identifier: Apache-2.0
#include "exec/io_pools.h"

#include <algorithm>
#include <utility>

namespace tfilefs {

bool IoPools::run(tfile::SourceOrigin origin, std::function<void()> job, Urgency urgency, const void* owner) {
  ThreadPool* pool = nullptr;
  {
    const Lock lock(mutex_);
    if (stopping_) return false;
    pool = &pools_.try_emplace(origin, origin == tfile::kLocalOrigin ? threads_ : std::max(threads_, kFarThreads))
                .first->second;
  }
  return pool->run(std::move(job), urgency, owner);
}

void IoPools::promote(const void* owner) {
  const Lock lock(mutex_);
  for (auto& [origin, pool] : pools_) pool.promote(owner);
}

void IoPools::stop() {
  std::map<tfile::SourceOrigin, ThreadPool>* pools = nullptr;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    pools = &pools_;  // no pool is added any more
  }
  for (auto& [origin, pool] : *pools) pool.stop();
}

}  // namespace tfilefs
