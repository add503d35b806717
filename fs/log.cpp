// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "descriptor.h"
#include "printable.h"
#include "tfile/json_text.h"
#include "tfile/json_writer.h"
#include "wall_clock.h"

namespace tfilefs {
namespace {

// More lines than these wait only if nothing takes them; they are some megabytes.
constexpr std::size_t kWaitingMax = 1000;
// Different lines that are counted at a time.
constexpr std::size_t kBurstsMax = 500;
// A line of the system's log, as RFC 5424 lets every receiver take it.
constexpr std::size_t kLineMax = 2048;
// A receiver that took nothing for so long does not get the line.
constexpr int kPatience = 1000;  // milliseconds

std::atomic<Log*> process_log = nullptr;

constexpr auto kNames = std::to_array<const char*>({"error", "warn", "info", "debug"});
constexpr auto kPriorities = std::to_array<int>({LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG});

std::string time_as(const char* format, std::time_t time) {
  std::tm fields{};
  ::gmtime_r(&time, &fields);
  std::array<char, 40> text;
  std::strftime(text.data(), text.size(), format, &fields);
  return text.data();
}

// ".057"
std::string milliseconds(const timespec& time) {
  std::array<char, 8> text;
  std::snprintf(text.data(), text.size(), ".%03d", static_cast<int>(time.tv_nsec / 1'000'000 % 1000));
  return text.data();
}

Descriptor open_to_append(const std::string& file) {
  return Descriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640));
}

// Writes to a pipe or terminal that somebody may have stopped reading.
bool write_soon(int fd, const std::string& line) {
  pollfd ready{fd, POLLOUT, 0};
  return fd >= 0 && ::poll(&ready, 1, kPatience) == 1 && (ready.revents & POLLOUT) != 0 &&
         ::write(fd, line.data(), line.size()) >= 0;
}

// Whether systemd's journal takes what is written there; it takes the priority from the beginning of a line. The
// variable alone does not tell: what the unit starts may have its standard error elsewhere.
bool is_journal(int fd) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  return stream && ::fstat(fd, &status) == 0 &&
         stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string head_for_system(int priority) {
  return "<" + std::to_string(LOG_DAEMON | priority) + ">" + time_as("%b %e %H:%M:%S", std::time(nullptr)) +
         " tfilefs[" + std::to_string(::getpid()) + "]: ";
}

// As syslog(3), which may wait without end.
bool send_to_system(const std::string& line) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/dev/log");
  const timeval patience{kPatience / 1000, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  return ::sendto(socket.get(), line.data(), line.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) >= 0;
}

}  // namespace

Result<> begin_log_file(const std::string& file) {
  if (open_to_append(file) || errno == ENXIO) return {};
  const int number = errno;
  return tfile::fail(ErrorKind::io, file + ": cannot write the log: " + std::strerror(number), -1, number);
}

void set_process_log(Log* log) { process_log = log; }

void tell_log(Severity severity, const LogEntry& entry) {
  if (Log* const log = process_log) log->add(severity, entry);
}

std::string LogEntry::line() const { return path.empty() ? text : printable(path) + ": " + text; }

Log::Log(LogOptions options) : options_(std::move(options)) {
  if (options_.to != LogOptions::To::nowhere) thread_ = std::thread([this] { run(); });
}

Log::~Log() { close(); }

void Log::add(Severity severity, LogEntry entry) {
  if (options_.to == LogOptions::To::nowhere || severity > options_.least) return;
  const std::string line = entry.line();
  {
    const Lock lock(mutex_);
    if (closing_) return;
    if (const auto known = bursts_.find(line); known != bursts_.end()) {
      ++known->second.line.more;
      known->second.last = Clock::now();
      return;
    }
    if (bursts_.size() < kBurstsMax) bursts_.emplace(line, Burst{{severity, entry}, Clock::now()});
    if (waiting_.size() < kWaitingMax) {
      waiting_.push_back({severity, std::move(entry)});
    } else {
      ++dropped_;
    }
  }
  changed_.notify_all();
}

void Log::close() {
  {
    const Lock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Log::tell_numbers() {
  const Lock lock(mutex_);
  end_bursts(Clock::time_point::max());
}

// Forgets the lines that were not met since then, and tells how often they were met.
void Log::end_bursts(Clock::time_point before) {
  for (auto at = bursts_.begin(); at != bursts_.end();) {
    Burst& burst = at->second;
    if (burst.last > before) {
      ++at;
      continue;
    }
    if (burst.line.more > 0) waiting_.push_back(std::move(burst.line));
    at = bursts_.erase(at);
  }
  if (dropped_ > 0 && !waiting_.empty())
    waiting_.push_back({Severity::warn, {std::to_string(std::exchange(dropped_, 0)) + " log lines were dropped"}});
}

void Log::run() {
  for (;;) {
    std::deque<Line> lines;
    bool over = false;
    {
      const Lock lock(mutex_);
      if (waiting_.empty() && !closing_) changed_.wait_for(mutex_, options_.burst / 2);
      over = closing_;
      end_bursts(over ? Clock::time_point::max() : Clock::now() - options_.burst);
      lines.swap(waiting_);
    }
    write_all(lines);
    if (over) return;
  }
}

// If a line is not taken, those behind it are not tried: each would wait.
void Log::write_all(const std::deque<Line>& lines) {
  const auto lost = std::ranges::find_if_not(lines, [&](const Line& line) { return write(line); });
  const Lock lock(mutex_);
  dropped_ += static_cast<std::uint64_t>(lines.end() - lost);
}

std::string Log::json_of(const Line& line) const {
  const timespec now = wall_clock();
  tfile::JsonWriter json;
  json.begin_object().member("time", time_as("%Y-%m-%dT%H:%M:%S", now.tv_sec) + milliseconds(now) + "Z");
  json.member("level", kNames[static_cast<std::size_t>(line.severity)]);
  json.member("mount", printable(options_.mount)).member("source", printable(options_.source));
  json.member("message", line.entry.text);
  if (!line.entry.path.empty()) json.member("path", printable(line.entry.path));
  if (line.entry.number != 0) json.member("errno", line.entry.number);
  if (line.more > 0) json.member("times_more", line.more);
  return tfile::with_readable_bytes(json.end_object().take());
}

// At most so many bytes. Of an object of JSON only what it says is cut, so that it stays one.
std::string Log::text_of(Line line, std::size_t most) const {
  if (options_.form == LogOptions::Form::text) {
    std::string text = line.entry.line();
    if (line.more > 0) text += " [" + std::to_string(line.more) + " times more]";
    text.resize(std::min(text.size(), most));
    return text;
  }
  for (;;) {
    std::string text = json_of(line);
    std::string& longer = line.entry.path.size() > line.entry.text.size() ? line.entry.path : line.entry.text;
    if (text.size() <= most || longer.empty()) return text;
    longer.resize(longer.size() - std::min(longer.size(), text.size() - most));
  }
}

bool Log::write(const Line& line) const {
  const auto place = static_cast<std::size_t>(line.severity);
  const bool is_json = options_.form == LogOptions::Form::json;
  switch (options_.to) {
    case LogOptions::To::nowhere:
      return true;
    case LogOptions::To::syslog: {
      const std::string head = head_for_system(kPriorities[place]);
      return send_to_system(head + text_of(line, kLineMax - head.size()));
    }
    case LogOptions::To::standard_error: {
      const std::string begin = is_journal(STDERR_FILENO) ? "<" + std::to_string(kPriorities[place]) + ">"
                                : is_json                 ? ""
                                                          : "tfilefs: ";
      return write_soon(STDERR_FILENO, begin + text_of(line, std::string::npos) + "\n");
    }
    case LogOptions::To::file: {
      const Descriptor file = open_to_append(options_.file);
      const std::string begin =
          is_json ? "" : time_as("%Y-%m-%dT%H:%M:%SZ", wall_clock().tv_sec) + " " + kNames[place] + ": ";
      return write_soon(file.get(), begin + text_of(line, std::string::npos) + "\n");
    }
  }
  return true;
}

}  // namespace tfilefs
