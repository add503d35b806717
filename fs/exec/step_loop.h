// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace tfilefs {

// Runs the steps of work that goes on when an answer comes. The answer may be there already: then the step asks for the
// next one before it has returned, and gets it from the loop that it stands in, not from a call deeper in the stack. So
// the stack does not grow with the number of steps. Steps never run at the same time, and each sees what the one before
// it did, whatever threads ask.
class StepLoop {
 public:
  // Runs `step` now, or has whoever runs a step at the moment run that one's function again behind it: all calls on one
  // loop pass the same function. Whoever calls keeps what the step works on, and this loop, until it returns.
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
