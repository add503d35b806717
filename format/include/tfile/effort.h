// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <stop_token>
#include <utility>

#include "tfile/result.h"

namespace tfile {

// The budget of a computation whose work is not bounded by the size of its input, such as a formula at many points or
// intervals from a series. The computation stops when the budget is used up or the caller has asked it to stop. For one
// thread at a time.
class Effort {
 public:
  explicit Effort(std::stop_token stop = {}) : stop_(std::move(stop)) {}

  // Takes `steps` of some nanoseconds each. Returns false if the computation must stop now; check() then says why.
  bool spend(std::uint64_t steps) {
    left_ = steps < left_ ? left_ - steps : 0;
    return left_ > 0 && !stop_.stop_requested();
  }
  // Errors: unsupported (too much work), io with ECANCELED (the caller asked to stop).
  Result<> check() const;

 private:
  // One or two seconds of work. A program that reads a drawing should not wait longer. No drawing met so far needed a
  // tenth of it.
  static constexpr std::uint64_t kStepsMax = 200'000'000;

  std::stop_token stop_;
  std::uint64_t left_ = kStepsMax;
};

}  // namespace tfile
