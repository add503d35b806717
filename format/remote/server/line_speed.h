// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

#include "tfile/source.h"

namespace tfile {

// The traits of a line with this delay and rate; the rest is as of a local disk. However long the line, no more than 2
// MiB count as in flight: that much is read through a gap, and twice as much ahead of a reader. Pure.
SourceTraits line_traits(std::chrono::steady_clock::duration delay, std::uint64_t bytes_per_second);

// The delay and the rate of the line to one server, from the times of its requests. Not safe for several threads.
class LineSpeed {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;
  struct Sent {
    Time at{};
    bool alone = false;  // nothing else was under way
  };

  // A first value of the delay, until one is measured.
  void guess_delay(Span);
  Sent sent(Time now);
  void answered(Time now, const Sent&, std::uint64_t bytes);
  void failed() { --under_way_; }

  Span delay() const { return delay_; }
  std::uint64_t bytes_per_second() const { return static_cast<std::uint64_t>(rate_); }

 private:
  void note_delay(Span);
  void note_rate(Span, std::uint64_t bytes);

  // Guesses: a server at home, and what a wide area line gives to one connection.
  Span delay_ = std::chrono::milliseconds(1);
  double rate_ = 10e6;
  bool delay_measured_ = false, rate_measured_ = false;
  int under_way_ = 0;
  Time period_begin_{};
  std::uint64_t period_bytes_ = 0;
};

}  // namespace tfile
