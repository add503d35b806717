// SPDX-License-Identifier: Apache-2.0
#include "request_times.h"

#include <algorithm>
#include <numeric>

namespace tfilefs {

std::uint64_t RequestTimes::Histogram::count() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

// Threads are given the copies in turn.
std::size_t RequestTimes::own_copy() {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t own = threads.fetch_add(1, std::memory_order_relaxed) % kCopies;
  return own;
}

void RequestTimes::add(RequestKind kind, Time took) {
  Counted& counted = copies_[own_copy()].kinds[static_cast<std::size_t>(kind)];
  const auto place = std::ranges::lower_bound(kBounds, took) - kBounds.begin();
  counted.counts[static_cast<std::size_t>(place)].fetch_add(1, std::memory_order_relaxed);
  counted.sum_ns.fetch_add(static_cast<std::uint64_t>(std::max<Time::rep>(took.count(), 0)), std::memory_order_relaxed);
}

RequestTimes::Report RequestTimes::report() const {
  Report report;
  for (const Copy& copy : copies_) {
    for (std::size_t kind = 0; kind < report.size(); ++kind) {
      const Counted& counted = copy.kinds[kind];
      for (std::size_t i = 0; i < counted.counts.size(); ++i)
        report[kind].counts[i] += counted.counts[i].load(std::memory_order_relaxed);
      report[kind].sum_ns += counted.sum_ns.load(std::memory_order_relaxed);
    }
  }
  return report;
}

}  // namespace tfilefs
