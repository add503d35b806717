// SPDX-License-Identifier: Apache-2.0
#include "exec/io_pools.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace tfilefs {

bool IoPools::run(tfile::ServerId origin, std::function<void()> job, Urgency urgency, const void* owner) {
  ThreadPool* pool = nullptr;
  {
    const Lock lock(mutex_);
    if (stopping_) return false;
    const unsigned threads = origin == tfile::kLocalOrigin ? threads_ : std::max(threads_, kRemoteThreads);
    try {
      pool = &pools_.try_emplace(origin, threads).first->second;
    } catch (const std::system_error&) {
      return false;  // not even one thread
    }
  }
  return pool->run(std::move(job), urgency, owner);
}

void IoPools::promote(const void* owner) {
  const Lock lock(mutex_);
  for (auto& [origin, pool] : pools_) pool.promote(owner);
}

void IoPools::stop() {
  std::map<tfile::ServerId, ThreadPool>* pools = nullptr;
  {
    const Lock lock(mutex_);
    stopping_ = true;
    pools = &pools_;  // no pool is added any more
  }
  for (auto& [origin, pool] : *pools) pool.stop();
}

}  // namespace tfilefs
