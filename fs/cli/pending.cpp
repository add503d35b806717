// SPDX-License-Identifier: Apache-2.0
#include "cli/pending.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "descriptor.h"
#include "start_thread.h"
#include "vfs/names/control_requests.h"

namespace tfilefs {

Pending read_pending(const std::string& mount_point) {
  std::ifstream file(mount_point + "/.tfilefs/pending.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  Pending pending;
  if (!json.is_object()) return pending;
  pending.left = json.value("left", std::uint64_t{0});
  const auto take = [&](const char* member, std::vector<std::string>& into) {
    for (const auto& line : json.value(member, nlohmann::json::array())) {
      if (line.is_string()) into.push_back(line.get<std::string>());
    }
  };
  for (const auto& one : json.value("reasons", nlohmann::json::array()))
    pending.reasons.push_back({one.value("path", ""), one.value("reason", "")});
  take("pending", pending.lines);
  take("unkept", pending.unkept);
  take("written", pending.written);
  return pending;
}

Result<> commit_directory(const std::string& mount_point, const std::string& directory) {
  const Descriptor at(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!at) return tfile::fail(ErrorKind::io, directory + ": " + std::strerror(errno), -1, errno);
  std::atomic<bool> done = false;
  std::thread progress;  // that there is none is no reason not to commit
  (void)start_thread(progress, [&] {
    using namespace std::chrono_literals;
    if (::isatty(STDERR_FILENO) == 0) return;
    bool shown = false;
    for (int ticks = 1; !done; ++ticks) {
      std::this_thread::sleep_for(100ms);
      if (ticks % 5 != 0 || done) continue;
      std::fprintf(stderr, "\rcommitting: %.0f MB left  ", static_cast<double>(read_pending(mount_point).left) / 1e6);
      shown = true;
    }
    if (shown) std::fprintf(stderr, "\r\033[K");
  });
  const int status = ::fsync(at.get());
  const int number = errno;
  done = true;
  if (progress.joinable()) progress.join();
  if (status != 0) return tfile::fail(ErrorKind::io, directory + ": " + std::strerror(number), -1, number);
  return {};
}

Result<> discard_staged(const std::string& mount_point) {
  const std::string control = mount_point + "/.tfilefs";
  if (::setxattr(control.c_str(), kDiscardAttribute, "", 0, 0) == 0 || errno == EROFS) return {};
  const int number = errno;
  if (number == EBUSY)
    return tfile::fail(ErrorKind::busy, mount_point +
                                            ": not unmounted: a part of what is not committed is of a mount "
                                            "that was killed; without --discard it is kept");
  return tfile::fail(ErrorKind::io, control + ": " + std::strerror(number), -1, number);
}

}  // namespace tfilefs
