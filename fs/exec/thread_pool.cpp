// SPDX-License-Identifier: Apache-2.0
#include "exec/thread_pool.h"

#include <algorithm>
#include <utility>

#include "exec/answering.h"
#include "start_thread.h"
#include "tfile/check.h"

namespace tfilefs {

// Fewer threads do the same work later. Without one there is none that could: that is an error of the caller.
ThreadPool::ThreadPool(unsigned threads) {
  threads_.reserve(std::max(1u, threads));
  threads_.emplace_back([this] { work(); });
  for (unsigned i = 1; i < threads; ++i) {
    std::thread more;
    if (!start_thread(more, [this] { work(); })) break;
    threads_.push_back(std::move(more));
  }
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

void ThreadPool::finish() {
  Lock lock(mutex_);
  while (!queue_.empty() || running_ > 0) idle_.wait(mutex_);
}

void ThreadPool::stop() {
  {
    Lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) {
    TFILE_DCHECK(thread.get_id() != std::this_thread::get_id());
    thread.join();
  }
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
      ++running_;
    }
    run_caught(job);
    job = nullptr;  // its objects must be gone before finish() returns
    Lock lock(mutex_);
    if (--running_ == 0 && queue_.empty()) idle_.notify_all();
  }
}

}  // namespace tfilefs
