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

template <class Make>
long on_disk(const faults::DiskCall& call, Make make) {
  faults::Disk* const disk = faults::disk;
  return disk ? disk->call(call, make) : make();
}

using Kind = faults::DiskCall::Kind;

ssize_t write_some(int fd, const struct iovec* parts, int count, off_t offset) {
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
  return static_cast<int>(on_disk({Kind::sync, fd}, [&] { return ::syscall(SYS_fdatasync, fd); }));
}

extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  return static_cast<int>(on_disk({Kind::sync, fd}, [&] { return ::syscall(SYS_fsync, fd); }));
}

extern "C" __attribute__((visibility("default"))) int ftruncate(int fd, off_t size) noexcept {
  return static_cast<int>(
      on_disk({Kind::cut, fd, static_cast<std::uint64_t>(size)}, [&] { return ::syscall(SYS_ftruncate, fd, size); }));
}

extern "C" __attribute__((visibility("default"))) ssize_t pwritev(int fd, const struct iovec* parts, int count,
                                                                  off_t offset) {
  if (may_hold) wait_while_held();
  if (faults::interruptions > 0) {
    --faults::interruptions;
    errno = EINTR;
    return -1;
  }
  return on_disk({Kind::write, fd, static_cast<std::uint64_t>(offset), {parts, static_cast<std::size_t>(count)}},
                 [&] { return static_cast<long>(write_some(fd, parts, count, offset)); });
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
  const auto make = [&] { return ::syscall(SYS_openat, at, path, flags, mode); };
  const bool changes = is_unnamed || (flags & O_CREAT) != 0;
  return static_cast<int>(changes ? on_disk({Kind::make, at}, make) : make());
}

extern "C" __attribute__((visibility("default"))) int linkat(int from, const char* path, int to, const char* name,
                                                             int flags) noexcept {
  return static_cast<int>(
      on_disk({Kind::name, to}, [&] { return ::syscall(SYS_linkat, from, path, to, name, flags); }));
}

extern "C" __attribute__((visibility("default"))) int renameat2(int from, const char* name, int to, const char* other,
                                                                unsigned flags) noexcept {
  return static_cast<int>(
      on_disk({Kind::name, to}, [&] { return ::syscall(SYS_renameat2, from, name, to, other, flags); }));
}

extern "C" __attribute__((visibility("default"))) int renameat(int from, const char* name, int to,
                                                               const char* other) noexcept {
  return renameat2(from, name, to, other, 0);
}

extern "C" __attribute__((visibility("default"))) int unlinkat(int at, const char* name, int flags) noexcept {
  return static_cast<int>(on_disk({Kind::name, at}, [&] { return ::syscall(SYS_unlinkat, at, name, flags); }));
}

extern "C" __attribute__((visibility("default"))) int fallocate(int fd, int mode, off_t offset, off_t size) {
  if (size > faults::bytes_left) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(
      on_disk({Kind::reserve, fd}, [&] { return ::syscall(SYS_fallocate, fd, mode, offset, size); }));
}
