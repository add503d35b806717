// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "bytes_text.h"

namespace tfilefs {

ProgressLine::ProgressLine(bool is_wanted) : is_shown_(is_wanted && ::isatty(STDERR_FILENO) == 1) {}

bool ProgressLine::is_due() {
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now - last_ < std::chrono::milliseconds(100)) return false;
  last_ = now;
  return true;
}

void ProgressLine::print(const std::string& text) {
  const std::string rest(width_ - std::min(width_, text.size()), ' ');
  std::fprintf(stderr, "\r%s%s", text.c_str(), rest.c_str());
  width_ = text.size();
}

// ", 1:05 left" of what has taken some time, if the rest takes as long.
std::string ProgressLine::time_left(double share) const {
  constexpr double kLongest = 360'000;  // seconds
  const double took = std::chrono::duration<double>(last_ - begun_).count();
  const double left = share > 0 ? took / share * (1 - std::min(share, 1.0)) : kLongest;
  if (left >= kLongest) return "";
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), ", %lld:%02lld left", static_cast<long long>(left) / 60,
                static_cast<long long>(left) % 60);
  return text.data();
}

void ProgressLine::show(double share) {
  if (!is_due()) return;
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "%3.0f %%", 100 * share);
  print(text.data() + time_left(share));
}

void ProgressLine::show(std::uint64_t done, std::uint64_t skipped, std::uint64_t all) {
  if (!is_due()) return;
  const std::chrono::duration<double> took = last_ - begun_;
  const double rate = static_cast<double>(done - skipped) / std::max(took.count(), 1e-3);
  std::string text = bytes_text(static_cast<double>(done)) + " of " + bytes_text(static_cast<double>(all)) + ", " +
                     bytes_text(rate) + "/s";
  const double to_do = static_cast<double>(all - std::min(skipped, all));
  if (done > skipped && to_do > 0) text += time_left(static_cast<double>(done - skipped) / to_do);
  print(text);
}

void ProgressLine::clear() {
  if (width_ == 0) return;
  print("");
  std::fprintf(stderr, "\r");
}

}  // namespace tfilefs
