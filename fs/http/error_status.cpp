// SPDX-License-Identifier: Apache-2.0
#include "http/error_status.h"

namespace tfilefs {

int status_of(const Error& error) {
  constexpr int kForbidden = 403, kNotFound = 404, kInternal = 500, kUnavailable = 503, kTimedOut = 504;
  switch (error.kind) {
    case ErrorKind::not_found:
    case ErrorKind::invalid:  // a file in the place of a directory
      return kNotFound;
    case ErrorKind::denied:
      return kForbidden;
    case ErrorKind::stale:
    case ErrorKind::busy:
    case ErrorKind::no_space:
    case ErrorKind::too_large:
      return kUnavailable;
    case ErrorKind::timed_out:
      return kTimedOut;
    case ErrorKind::damaged:
    case ErrorKind::unsupported:
    case ErrorKind::io:
    case ErrorKind::exists:
    case ErrorKind::not_empty:
      return kInternal;
  }
  return kInternal;
}

}  // namespace tfilefs
