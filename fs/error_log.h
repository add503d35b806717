// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "mutex.h"
#include "reply.h"

namespace tfilefs {

// An error for people: "TEXT (at byte OFFSET of FILE)". Names in a file may hold any character, so control characters
// are escaped.
std::string message_of(const Error&);

// The text of .tfilefs/errors: the last problems met, one line each, oldest first. Thread-safe.
class ErrorLog {
 public:
  // A line "DATE PATH: MESSAGE". The same problem met several times is counted, not repeated; so is one of a file, at a
  // byte of the source, that its directory had.
  void add(std::string_view path, const Error&);
  void add(std::string_view path, std::string_view text) { add(path, Error{{}, std::string(text)}); }

  std::string text() const;
  std::uint64_t count() const;  // of all problems since the start, repeated ones included

 private:
  struct Line {
    std::int64_t time = 0;  // seconds since the epoch, of the last time
    std::string message;
    std::uint64_t times = 1;
  };
  // Enough to see the pattern of a damaged file; some megabytes with the longest messages.
  static constexpr std::size_t kLinesMax = 500;

  mutable Mutex mutex_{"ErrorLog::mutex_"};
  std::deque<Line> lines_ GUARDED_BY(mutex_);
  std::uint64_t count_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tfilefs
