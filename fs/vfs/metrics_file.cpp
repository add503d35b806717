// SPDX-License-Identifier: Apache-2.0
#include "vfs/metrics_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "descriptor.h"
#include "log.h"
#include "printable.h"
#include "start_thread.h"

namespace tfilefs {
namespace {

// Another user's program reads it, whatever the umask.
constexpr mode_t kForAll = 0644;

constexpr const char* kPageName = "/.tfilefs/metrics";
constexpr std::string_view kPageBegin = "# HELP tfilefs_";

}  // namespace

Result<> check_metrics_file(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};  // whether one can be made is seen when it is
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::invalid, path + ": not a plain file");
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return tfile::system_error(path, errno);
  TRY(const std::vector<std::byte> begin, read_at(file.get(), 0, kPageBegin.size()));
  if (begin.empty() || std::string_view(reinterpret_cast<const char*>(begin.data()), begin.size()) == kPageBegin)
    return {};
  return fail(ErrorKind::exists, path + ": no page of metrics, and would be lost: remove it, or name another file");
}

MetricsFile::~MetricsFile() {
  try {
    // A file that was made since may have the same number.
    if (written_ && id_at(AT_FDCWD, file_) == written_ && check_metrics_file(file_)) ::unlink(file_.c_str());
  } catch (const std::bad_alloc&) {
    return;  // as that of a mount that was killed
  }
}

Result<FileId> MetricsFile::write() const try {
  TRY_VOID(check_metrics_file(file_));
  return replace_file(file_, text_(), kForAll);
} catch (const std::bad_alloc&) {
  return tfile::fail(ErrorKind::no_space, "out of memory");
}

MetricsFile::Clock::time_point MetricsFile::look(Clock::time_point now) {
  if (now < due_) return due_;
  due_ = now + kInterval;
  const Result<FileId> written = write();
  if (written) written_ = *written;
  const bool failed = std::exchange(fails_, !written);
  if (!written && !failed) errors_.add(kPageName, written.error());
  if (written && failed) tell_log(Severity::info, "writing the metrics works again: " + printable(file_));
  return due_;
}

MetricsWriter::MetricsWriter(std::string file, std::function<std::string()> text, ErrorLog& errors)
    : file_(std::move(file), std::move(text), errors) {
  if (!start_thread(thread_, [this] { run(); }))
    errors.add(kPageName, "cannot be written to a file: no thread could be created");
}

MetricsWriter::~MetricsWriter() {
  {
    const Lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void MetricsWriter::run() {
  for (;;) {
    const auto due = file_.look(MetricsFile::Clock::now());
    const Lock lock(mutex_);
    while (!over_ && MetricsFile::Clock::now() < due) changed_.wait_for(mutex_, due - MetricsFile::Clock::now());
    if (over_) return;
  }
}

}  // namespace tfilefs
