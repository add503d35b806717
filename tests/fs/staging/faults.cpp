// SPDX-License-Identifier: Apache-2.0
#include "faults.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace faults = tfilefs::faults;

// These stand before the C library's for the whole program.
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

extern "C" __attribute__((visibility("default"))) int fallocate(int fd, int mode, off_t offset, off_t size) {
  if (size > faults::bytes_left) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, offset, size));
}
