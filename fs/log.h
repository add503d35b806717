// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include "mutex.h"
#include "reply.h"

namespace tfilefs {

enum class Severity : std::uint8_t { error, warn, info, debug };

struct LogOptions {
  enum class To : std::uint8_t { nowhere, syslog, standard_error, file };
  enum class Form : std::uint8_t { text, json };
  To to = To::nowhere;
  Form form = Form::text;
  Severity least = Severity::info;          // what matters less is not written
  std::string file;                         // absolute; opened anew for each line, so that it can be moved away
  std::string mount, source;                // what an object of JSON says of the mount
  std::chrono::milliseconds burst{10'000};  // a line that was not met again for so long is no burst any more
};

// A line of the log, and what it is about.
struct LogEntry {
  std::string text;
  std::string path = {};  // in the mount; empty: of the mount as a whole
  int number = 0;         // the errno; 0: none is known

  std::string line() const;  // "PATH: TEXT"
};

// Writes lines to the system's log, standard error or a file. A line is written when it is first met. While it is met
// again and again it is only counted, and then one more line says how often. Thread-safe. Adding never waits: a thread
// of its own writes.
class Log {
 public:
  explicit Log(LogOptions);
  ~Log();  // as close()
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void add(Severity, LogEntry) EXCLUDES(mutex_);
  void add(Severity severity, std::string_view text) { add(severity, LogEntry{std::string(text)}); }
  // Tells how often the lines so far were met, before another line is added.
  void tell_numbers() EXCLUDES(mutex_);
  // Writes what is waiting, and the numbers of lines that were counted. What is added later is dropped. If
  // nothing takes the lines, they are given up after a second.
  void close() EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;
  struct Line {
    Severity severity = Severity::info;
    LogEntry entry;
    std::uint64_t more = 0;  // not 0: it was met so often since it was written
  };
  struct Burst {
    Line line;
    Clock::time_point last;
  };
  void run() EXCLUDES(mutex_);
  void end_bursts(Clock::time_point before) REQUIRES(mutex_);
  void write_all(const std::deque<Line>&) EXCLUDES(mutex_);
  bool write(const Line&) const;  // whether it was taken
  std::string json_of(const Line&) const;
  std::string text_of(Line, std::size_t most) const;

  const LogOptions options_;
  Mutex mutex_{"Log::mutex_"};
  Condition changed_;
  std::map<std::string, Burst, std::less<>> bursts_ GUARDED_BY(mutex_);
  std::deque<Line> waiting_ GUARDED_BY(mutex_);
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  bool closing_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Makes the file if it is not there; a pipe needs no reader yet. Error: io, if it cannot be written.
Result<> begin_log_file(const std::string& file);

// The log of this process, which every room may write to: null for none, as in tests. It must stay until no thread can
// tell it anything any more.
void set_process_log(Log*);
void tell_log(Severity, const LogEntry&);
inline void tell_log(Severity severity, std::string_view text) { tell_log(severity, LogEntry{std::string(text)}); }

}  // namespace tfilefs
