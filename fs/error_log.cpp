// SPDX-License-Identifier: Apache-2.0
#include "error_log.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "log.h"
#include "printable.h"

namespace tfilefs {

namespace {

std::string utc_time(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm fields{};
  gmtime_r(&time, &fields);
  std::array<char, 32> text;
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields);
  return text.data();
}

std::string shortened(std::string text) {
  constexpr std::size_t kTextMax = 2000;
  if (text.size() > kTextMax) text.resize(kTextMax);
  return text;
}

std::string line_of_directory(LogEntry entry) {
  entry.path.resize(std::min(entry.path.size(), entry.path.rfind('/')));
  return entry.line();
}

}  // namespace

std::string message_of(const Error& error) {
  std::string message = printable(error.text);
  const std::string file = printable(error.source);
  if (error.offset < 0) return file.empty() ? message : message + " (in " + file + ")";
  return message + " (at byte " + std::to_string(error.offset) + (file.empty() ? "" : " of " + file) + ")";
}

void ErrorLog::add(std::string_view path, const Error& error) {
  const Error shown{error.kind, shortened(error.text), error.offset, 0, shortened(error.source)};
  const LogEntry entry{message_of(shown), shortened(std::string(path)), error.system_errno};
  std::string message = entry.line();
  const std::string same_above = error.offset < 0 ? std::string() : line_of_directory(entry);
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  tell_log(Severity::error, entry);
  const Lock lock(mutex_);
  ++count_;
  const auto same = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) {
    return line.message == message || line.message == same_above;
  });
  if (same != lines_.end()) {
    same->time = now.count();
    ++same->times;
    return;
  }
  lines_.push_back({now.count(), std::move(message)});
  if (lines_.size() > kLinesMax) lines_.pop_front();
}

std::string ErrorLog::text() const {
  const Lock lock(mutex_);
  std::string out;
  for (const Line& line : lines_) {
    out += utc_time(line.time) + " " + line.message;
    if (line.times > 1) out += " [" + std::to_string(line.times) + " times]";
    out += '\n';
  }
  return out;
}

std::uint64_t ErrorLog::count() const {
  const Lock lock(mutex_);
  return count_;
}

}  // namespace tfilefs
