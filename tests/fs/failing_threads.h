// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tfilefs {

// While it exists, the process can make so many threads at a time besides those that there are, as under `ulimit -u`.
// Others fail with EAGAIN.
class FailingThreads {
 public:
  explicit FailingThreads(int more);
  ~FailingThreads();
  FailingThreads(const FailingThreads&) = delete;
  FailingThreads& operator=(const FailingThreads&) = delete;

  // False under sanitizers, which replace pthread_create() themselves.
  static bool is_possible();
};

}  // namespace tfilefs
