// SPDX-License-Identifier: Apache-2.0
#include "fuse/errno.h"

#include <cerrno>

namespace tfilefs {

int errno_of(const Error& error) {
  if (error.kind == ErrorKind::stale) return ESTALE;
  if (error.system_errno > 0) return error.system_errno;
  switch (error.kind) {
    case ErrorKind::damaged:
    case ErrorKind::unsupported:
    case ErrorKind::io:
      return EIO;
    case ErrorKind::not_found:
      return ENOENT;
    case ErrorKind::stale:
      return ESTALE;
    case ErrorKind::timed_out:
      return ETIMEDOUT;
    case ErrorKind::no_space:
      return ENOSPC;
    case ErrorKind::too_large:
      return ENOMEM;
    case ErrorKind::denied:
      return EACCES;
    case ErrorKind::busy:
      return EBUSY;
    case ErrorKind::exists:
      return EEXIST;
    case ErrorKind::not_empty:
      return ENOTEMPTY;
    case ErrorKind::invalid:
      return EINVAL;
  }
  return EIO;
}

}  // namespace tfilefs
