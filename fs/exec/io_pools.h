// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>

#include "exec/thread_pool.h"
#include "mutex.h"
#include "tfile/source.h"

namespace tfilefs {

// The threads that read sources. Each origin of sources gets some of its own, from its first read on, so that a read
// that hangs with one origin holds back no read of another.
class IoPools {
 public:
  // `threads`: for local files.
  explicit IoPools(unsigned threads) : threads_(threads) {}

  // As ThreadPool::run.
  bool run(tfile::ServerId, std::function<void()> job, Urgency, const void* owner = nullptr);
  void promote(const void* owner);
  void stop();

 private:
  // For a server. They only wait, for answers that may not come; columns are read without them.
  static constexpr unsigned kRemoteThreads = 64;

  const unsigned threads_;
  Mutex mutex_{"IoPools::mutex_", "ThreadPool::mutex_"};
  std::map<tfile::ServerId, ThreadPool> pools_ GUARDED_BY(mutex_);  // no pool is removed before this ends
  bool stopping_ GUARDED_BY(mutex_) = false;
};

}  // namespace tfilefs
