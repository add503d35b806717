// SPDX-License-Identifier: Apache-2.0
#include "cli/mount_guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "cli/mount_point.h"
#include "cli/mount_table.h"
#include "fuse/mount.h"

namespace tfilefs {
namespace {

constexpr int kWatched = STDERR_FILENO + 1;

// Keeps nothing of what the process has that it is forked from: not its descriptors, terminal or directory.
void stand_alone(int watched) {
  ::setsid();
  ::prctl(PR_SET_NAME, "tfilefs-guard");
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, fd);
  ::dup2(watched, kWatched);
  ::close_range(kWatched + 1, ~0U, 0);
  if (::chdir("/") != 0) {  // "/" is always there
  }
}

// The kernel closes the descriptors of a process one after the other, that of the mount perhaps not first.
void clear_what_is_left(const std::string& mount_point) {
  constexpr int kTries = 100;
  constexpr std::chrono::milliseconds kPause{50};
  for (int tried = 0; tried < kTries && is_tfilefs_mount(mount_point); ++tried) {
    if (source_of_dead_mount(mount_point)) {
      if (unmount(mount_point, true)) remove_made_mount_point(mount_point);
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

MountGuard::MountGuard(const std::string& mount_point) {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe to the guard process");
  held_ = Descriptor(ends[1]);
  const Descriptor watched(ends[0]);
  const pid_t guard = ::fork();
  if (guard < 0) throw std::runtime_error("cannot fork the guard process");
  if (guard > 0) return;
  stand_alone(watched.get());
  char none = 0;
  while (::read(kWatched, &none, 1) < 0 && errno == EINTR) {
  }
  clear_what_is_left(mount_point);
  ::_exit(0);
}

}  // namespace tfilefs
