// SPDX-License-Identifier: Apache-2.0
#include "log.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
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

std::string now_as(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  ::gmtime_r(&now, &fields);
  std::array<char, 40> text;
  std::strftime(text.data(), text.size(), format, &fields);
  return text.data();
}

Descriptor open_to_append(const std::string& file) {
  return Descriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640));
}

// Of a pipe or terminal that somebody may have stopped reading.
bool write_soon(int fd, const std::string& line) {
  pollfd ready{fd, POLLOUT, 0};
  return fd >= 0 && ::poll(&ready, 1, kPatience) == 1 && (ready.revents & POLLOUT) != 0 &&
         ::write(fd, line.data(), line.size()) >= 0;
}

// As syslog(3), which may wait without end.
bool send_to_system(int priority, const std::string& text) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/dev/log");
  const timeval patience{kPatience / 1000, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::string line = "<" + std::to_string(LOG_DAEMON | priority) + ">" + now_as("%b %e %H:%M:%S") + " tfilefs[" +
                     std::to_string(::getpid()) + "]: " + text;
  line.resize(std::min(line.size(), kLineMax));
  return ::sendto(socket.get(), line.data(), line.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) >= 0;
}

}  // namespace

Result<> begin_log_file(const std::string& file) {
  if (open_to_append(file) || errno == ENXIO) return {};
  const int number = errno;
  return tfile::fail(ErrorKind::io, file + ": the log cannot be written: " + std::strerror(number), -1, number);
}

void set_process_log(Log* log) { process_log = log; }

void tell_log(Severity severity, std::string_view line) {
  if (Log* const log = process_log) log->add(severity, line);
}

Log::Log(LogOptions options) : options_(std::move(options)) {
  if (options_.to != LogOptions::To::nowhere) thread_ = std::thread([this] { run(); });
}

Log::~Log() { close(); }

void Log::add(Severity severity, std::string_view line) {
  if (options_.to == LogOptions::To::nowhere || severity > options_.least) return;
  {
    const Lock lock(mutex_);
    if (closing_) return;
    if (const auto known = bursts_.find(line); known != bursts_.end()) {
      ++known->second.more;
      known->second.last = Clock::now();
      return;
    }
    if (bursts_.size() < kBurstsMax) bursts_.emplace(line, Burst{severity, 0, Clock::now()});
    if (waiting_.size() < kWaitingMax) {
      waiting_.push_back({severity, std::string(line)});
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
    const auto& [line, burst] = *at;
    if (burst.last > before) {
      ++at;
      continue;
    }
    if (burst.more > 0) waiting_.push_back({burst.severity, line + " [" + std::to_string(burst.more) + " times more]"});
    at = bursts_.erase(at);
  }
  if (dropped_ > 0 && !waiting_.empty())
    waiting_.push_back({Severity::warn, std::to_string(std::exchange(dropped_, 0)) + " lines were not written"});
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

bool Log::write(const Line& line) const {
  const auto place = static_cast<std::size_t>(line.severity);
  switch (options_.to) {
    case LogOptions::To::nowhere:
      return true;
    case LogOptions::To::syslog:
      return send_to_system(kPriorities[place], line.text);
    case LogOptions::To::standard_error: {
      // systemd's journal takes the priority from the beginning of the line.
      const std::string begin =
          std::getenv("JOURNAL_STREAM") ? "<" + std::to_string(kPriorities[place]) + ">" : "tfilefs: ";
      return write_soon(STDERR_FILENO, begin + line.text + "\n");
    }
    case LogOptions::To::file: {
      const Descriptor file = open_to_append(options_.file);
      return write_soon(file.get(), now_as("%Y-%m-%dT%H:%M:%SZ") + " " + kNames[place] + ": " + line.text + "\n");
    }
  }
  return true;
}

}  // namespace tfilefs
