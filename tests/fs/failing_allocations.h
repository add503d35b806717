// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tfilefs {

// While it exists, allocation number `number` of this thread, or of all threads (from 0 on), throws std::bad_alloc, and
// `more` behind it.
class FailingAllocations {
 public:
  enum class Of { this_thread, all_threads };
  explicit FailingAllocations(int number, int more = 0, Of = Of::this_thread);
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

  bool happened() const;

  // False under sanitizers, which replace operator new themselves.
  static bool is_possible();
};

}  // namespace tfilefs
