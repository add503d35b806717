// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "tfile/result.h"

namespace tfile {

// What a computation may still do whose work its input's size does not bound: a formula at many points, intervals by
// series. It ends itself when that is used up, or when who wanted it has asked it to stop. For one thread at a time.
class Effort {
 public:
  explicit Effort(std::stop_token stop = {}) : stop_(std::move(stop)) {}

  // Of some nanoseconds each. False: it is to end now, and check() says why.
  bool spend(std::uint64_t steps) {
    left_ = steps < left_ ? left_ - steps : 0;
    return left_ > 0 && !stop_.stop_requested();
  }
  // Errors: unsupported (too much work), io with ECANCELED (stopped).
  Result<> check() const;

 private:
  // A second or two: whoever waits for a drawing does not wait longer, and no drawing that was met takes a tenth of it.
  static constexpr std::uint64_t kStepsMax = 200'000'000;

  std::stop_token stop_;
  std::uint64_t left_ = kStepsMax;
};

}  // namespace tfile
