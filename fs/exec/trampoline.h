// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace tfilefs {

// Runs the steps of work that goes on when an answer comes. The answer may be there already: then the step asks for the
// next step before it has returned, and this loop runs it instead of a call deeper in the stack. So the stack does not
// grow with the number of steps. Steps never run at the same time. Each sees the effects of the one before it,
// whichever threads ask.
class Trampoline {
 public:
  // Runs `step` now; or, if a step is running, has its thread run that function once more afterwards. So all calls on
  // one loop must pass the same function. The caller keeps the objects that the step uses, and this loop, until it
  // returns.
  template <class Step>
  void next(Step&& step) {
    if (asked_.fetch_add(1, std::memory_order_acq_rel) > 0) return;
    do step();
    while (asked_.fetch_sub(1, std::memory_order_acq_rel) > 1);
  }

 private:
  std::atomic<std::uint32_t> asked_ = 0;  // steps that were asked for and have not ended
};

}  // namespace tfilefs
