// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "tfile/source.h"

namespace tfile {

// The requests of one source to its server. Any thread adds to it and reads it.
struct RemoteCounts {
  std::atomic<std::uint64_t> requests = 0;   // sent, those that were tried again included
  std::atomic<std::uint64_t> ranges = 0;     // wanted by readers
  std::atomic<std::uint64_t> bytes = 0;      // arrived
  std::atomic<std::uint64_t> retries = 0;    // requests that were sent again
  std::atomic<std::uint64_t> redirects = 0;  // answers that came from another server or path

  // A request is sent, for so many bytes. Then these come, at once or bit by bit; or not, at its end. Requests that are
  // sent before one of them is answered are one round trip.
  void note_sent(std::uint64_t wanted) {
    requests.fetch_add(1, std::memory_order_relaxed);
    in_flight_.fetch_add(wanted, std::memory_order_relaxed);
    if (is_answered_.exchange(false, std::memory_order_relaxed)) round_trips_.fetch_add(1, std::memory_order_relaxed);
  }
  void note_answer() { is_answered_.store(true, std::memory_order_relaxed); }
  void note_no_longer_wanted(std::uint64_t size) { in_flight_.fetch_sub(size, std::memory_order_relaxed); }

  SourceCounts now() const {
    SourceCounts counts{requests, ranges, bytes, retries};
    counts.round_trips = round_trips_;
    counts.redirects = redirects;
    counts.in_flight = in_flight_;
    return counts;
  }

 private:
  std::atomic<std::uint64_t> round_trips_ = 0, in_flight_ = 0;
  std::atomic<bool> is_answered_ = true;  // one of the requests of the last round trip, or there was none yet
};

}  // namespace tfile
