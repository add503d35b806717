// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "tfile/source.h"

namespace tfile {

// What one source has asked its server for. Any thread adds to it and reads it.
struct FarCounts {
  std::atomic<std::uint64_t> requests = 0;  // sent, those that were tried again included
  std::atomic<std::uint64_t> ranges = 0;    // wanted by readers
  std::atomic<std::uint64_t> bytes = 0;     // arrived
  std::atomic<std::uint64_t> retries = 0;   // requests that were sent again
  SourceCounts now() const { return {requests, ranges, bytes, retries}; }
};

}  // namespace tfile
