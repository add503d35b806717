// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "mutex.h"
#include "reply.h"

namespace tfilefs {

// What .tfilefs/errors shows: the last problems met, one line each, oldest first. Thread-safe.
class ErrorLog {
 public:
  // A line "DATE PATH: TEXT (at byte OFFSET)". What a file says may hold any character: control characters are
  // escaped. The same problem met again in a row of others is counted, not repeated.
  void add(std::string_view path, std::string_view text, std::int64_t offset = -1);
  void add(std::string_view path, const Error& error) { add(path, error.text, error.offset); }

  std::string text() const;
  std::uint64_t count() const;  // of all problems since the start, repeated ones included

 private:
  struct Line {
    std::int64_t time = 0;  // seconds since the epoch, of the last time
    std::string message;
    std::uint64_t times = 1;
  };
  // Enough to see the pattern of a damaged file; at the longest line (kMessageMax) 1 MB.
  static constexpr std::size_t kLinesMax = 500;
  static constexpr std::size_t kMessageMax = 2000;

  mutable Mutex mutex_;
  std::deque<Line> lines_ GUARDED_BY(mutex_);
  std::uint64_t count_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
