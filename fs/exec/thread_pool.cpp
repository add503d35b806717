// SPDX-License-Identifier: Apache-2.0
#include "exec/thread_pool.h"

#include <algorithm>

#include "exec/answering.h"

namespace tfilefs {

ThreadPool::ThreadPool(unsigned threads) {
  for (unsigned i = 0; i < std::max(1u, threads); ++i) threads_.emplace_back([this] { work(); });
}

ThreadPool::~ThreadPool() { stop(); }

bool ThreadPool::run(std::function<void()> job, Urgency urgency, const void* owner) {
  {
    Lock lock(mutex_);
    if (stopping_) return false;
    queue_.push(std::move(job), urgency, owner);
  }
  wake_.notify_one();
  return true;
}

void ThreadPool::promote(const void* owner) {
  Lock lock(mutex_);
  queue_.promote(owner);
}

void ThreadPool::stop() {
  {
    Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ThreadPool::work() {
  for (;;) {
    std::function<void()> job;
    {
      Lock lock(mutex_);
      while (queue_.empty() && !stopping_) wake_.wait(mutex_);
      if (queue_.empty()) return;
      job = queue_.pop();
    }
    run_caught(job);
  }
}

}  // namespace tfilefs
