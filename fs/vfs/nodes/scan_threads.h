// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

#include "exec/thread_pool.h"

namespace tfilefs {

// The threads of a scan of a table, which exist as long as it takes. While some units wait for their bytes, others are
// evaluated.
class ScanThreads {
 public:
  ScanThreads() : count_(std::clamp(std::thread::hardware_concurrency(), 1u, kThreadsMax)), workers_(count_) {}
  ThreadPool& workers() { return workers_; }
  std::size_t units_at_once() const { return std::size_t{2} * count_; }

 private:
  static constexpr unsigned kThreadsMax = 8;
  const unsigned count_;
  ThreadPool workers_;
};

}  // namespace tfilefs
