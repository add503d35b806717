// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <utility>

#include "exec/started.h"
#include "exec/thread_pool.h"
#include "reply.h"
#include "tfile/check.h"

namespace tfilefs {

// Jobs whose results are taken in the order in which they were started. For one thread, which waits for them. They may
// use what outlives this: at its end none is left.
template <class T>
class OrderedJobs {
 public:
  // Takes a result; it may start further jobs. An error ends the taking.
  using Take = std::function<Result<>(Result<T>)>;

  explicit OrderedJobs(Take take) : take_(std::move(take)) {}
  ~OrderedJobs() {
    for (Started& each : under_way_) each.result.wait();
  }
  OrderedJobs(const OrderedJobs&) = delete;
  OrderedJobs& operator=(const OrderedJobs&) = delete;

  // `job` returns a Result<T>. `size`: what take_down_to() counts; not 0.
  template <class Job>
  void start(ThreadPool& pool, Urgency urgency, Job job, std::uint64_t size = 1) {
    TFILE_DCHECK(size > 0);
    under_way_.push_back({started(pool, urgency, std::move(job)), size});
    size_ += size;
  }

  // Takes results until what is under way has no more than this size; 0: all.
  Result<> take_down_to(std::uint64_t size) {
    while (size_ > size) TRY_VOID(take_first());
    return {};
  }

 private:
  struct Started {
    std::future<Result<T>> result;
    std::uint64_t size = 0;
  };

  Result<> take_first() {
    Started first = std::move(under_way_.front());
    under_way_.pop_front();
    size_ -= first.size;
    return take_(first.result.get());
  }

  const Take take_;
  std::deque<Started> under_way_;
  std::uint64_t size_ = 0;
};

}  // namespace tfilefs
