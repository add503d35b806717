// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "error_log.h"
#include "mutex.h"
#include "reply.h"
#include "staging/journal/file_place.h"

namespace tfilefs {

// Whether a page of metrics may have this name: an existing file is one already, or is empty. A link is not followed.
// Errors: exists, invalid, denied, io.
Result<> check_metrics_file(const std::string& path);

// A text for another program, in a file that is whole whenever it is opened. It goes with this: a mount that has ended
// is not to look like one that does nothing.
class MetricsFile {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kInterval{15};  // as often as Prometheus usually asks

  // `file`: absolute. `text` is called by look() alone. What fails is reported once, until it works again.
  MetricsFile(std::string file, std::function<std::string()> text, ErrorLog& errors)
      : file_(std::move(file)), text_(std::move(text)), errors_(errors) {}
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // Writes the text if that is due. Returns when it is due next. Blocks.
  Clock::time_point look(Clock::time_point now);

 private:
  Result<FileId> write() const;

  const std::string file_;
  const std::function<std::string()> text_;
  ErrorLog& errors_;
  Clock::time_point due_{};
  std::optional<FileId> written_;  // not what another program has put there since
  bool fails_ = false;
};

// Has it written in time, by a thread of its own.
class MetricsWriter {
 public:
  MetricsWriter(std::string file, std::function<std::string()> text, ErrorLog&);
  ~MetricsWriter();
  MetricsWriter(const MetricsWriter&) = delete;
  MetricsWriter& operator=(const MetricsWriter&) = delete;

 private:
  void run() EXCLUDES(mutex_);

  MetricsFile file_;  // used by the thread alone
  Mutex mutex_{"MetricsWriter::mutex_"};
  Condition changed_;
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tfilefs
