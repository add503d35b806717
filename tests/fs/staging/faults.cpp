// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdarg>
#include <mutex>

namespace faults = tfilefs::faults;

namespace {
std::mutex mutex;
std::condition_variable changed;
bool holding = false;
int held = 0;
std::atomic<bool> may_hold = false;  // other calls then take no lock

void wait_while_held() {
  std::unique_lock lock(mutex);
  ++held;
  changed.notify_all();
  changed.wait(lock, [] { return !holding; });
  --held;
}
}  // namespace

void faults::hold_writes() {
  const std::lock_guard lock(mutex);
  may_hold = holding = true;
}
void faults::wait_for_held_write() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return held > 0; });
}
void faults::release_writes() {
  const std::lock_guard lock(mutex);
  may_hold = holding = false;
  changed.notify_all();
}

// These replace the functions of the C library in the whole program.
extern "C" __attribute__((visibility("default"))) int fdatasync(int fd) {
  ++faults::syncs;
  if (faults::failing_syncs > 0) {
    --faults::failing_syncs;
    errno = EIO;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

extern "C" __attribute__((visibility("default"))) ssize_t pwritev(int fd, const struct iovec* parts, int count,
                                                                  off_t offset) {
  if (may_hold) wait_while_held();
  if (faults::interruptions > 0) {
    --faults::interruptions;
    errno = EINTR;
    return -1;
  }
  std::size_t done = 0;
  for (int i = 0; i < count; ++i) {
    const std::size_t most =
        std::min<std::size_t>(faults::largest_write - done, static_cast<std::size_t>(faults::bytes_left));
    const std::size_t size = std::min(parts[i].iov_len, most);
    if (size == 0) {
      if (parts[i].iov_len == 0) continue;
      break;
    }
    const long written = ::syscall(SYS_pwrite64, fd, parts[i].iov_base, size, offset + static_cast<off_t>(done));
    if (written < 0) return done > 0 ? static_cast<ssize_t>(done) : -1;
    done += static_cast<std::size_t>(written);
    faults::bytes_left -= written;
    if (static_cast<std::size_t>(written) < parts[i].iov_len) break;
  }
  if (done == 0 && faults::bytes_left == 0) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<ssize_t>(done);
}

extern "C" __attribute__((visibility("default"))) int openat(int at, const char* path, int flags, ...) {
  const bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  mode_t mode = 0;
  if (is_unnamed || (flags & O_CREAT) != 0) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  if (is_unnamed && faults::no_unnamed_files) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, at, path, flags, mode));
}

extern "C" __attribute__((visibility("default"))) int fallocate(int fd, int mode, off_t offset, off_t size) {
  if (size > faults::bytes_left) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, size));
}
