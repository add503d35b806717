// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tfilefs {

// A line on a terminal, ten times a second at most; nothing where stderr is none.
class ProgressLine {
 public:
  explicit ProgressLine(bool is_wanted = true);
  // A share, with the time that is left.
  void show(double share);
  // Bytes of all bytes, with their rate and the time that is left; `skipped` of them took no time.
  void show(std::uint64_t done, std::uint64_t skipped, std::uint64_t all);
  void clear();

 private:
  bool is_due();
  std::string time_left(double share) const;
  void print(const std::string& text);

  const bool is_shown_;
  std::size_t width_ = 0;  // of what stands on the line
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace tfilefs
