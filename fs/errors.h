// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "tfile/result.h"

namespace tfilefs {

using tfile::cancelled;
using tfile::Error;
using tfile::ErrorKind;
using tfile::is_cancelled;
using tfile::no_memory;
using tfile::Result;

// Errors whose errno says more than their kind. Each number is chosen here, so that the same failure has the same
// number wherever it is found; a system call that failed has its own.

// ---- Names

inline tl::unexpected<Error> no_such_entry(std::string text = "no such file or directory") {
  return tfile::fail(ErrorKind::not_found, std::move(text), -1, ENOENT);
}
// A view that this table or object cannot have is no file either.
inline tl::unexpected<Error> no_such_view(std::string text) {
  return tfile::fail(ErrorKind::unsupported, std::move(text), -1, ENOENT);
}
// A change that would make a name twice.
inline tl::unexpected<Error> name_taken() { return tfile::fail(ErrorKind::exists, "already exists", -1, EEXIST); }
// A name or path that the kernel would not take.
inline tl::unexpected<Error> name_too_long(std::string text = "name too long") {
  return tfile::fail(ErrorKind::invalid, std::move(text), -1, ENAMETOOLONG);
}
inline tl::unexpected<Error> not_a_directory() {
  return tfile::fail(ErrorKind::invalid, "not a directory", -1, ENOTDIR);
}
inline tl::unexpected<Error> is_a_directory(std::string text = "is a directory") {
  return tfile::fail(ErrorKind::invalid, std::move(text), -1, EISDIR);
}
// A directory with names in it is removed or replaced.
inline tl::unexpected<Error> not_empty() { return tfile::fail(ErrorKind::not_empty, "not empty", -1, ENOTEMPTY); }
// A move of which mv(1) makes a copy, when told this.
inline tl::unexpected<Error> crosses_files(std::string text) {
  return tfile::fail(ErrorKind::invalid, std::move(text), -1, EXDEV);
}
// Directories of a file that contain themselves, or nest too deep.
inline tl::unexpected<Error> endless_path(std::string text, std::int64_t offset = -1) {
  return tfile::fail(ErrorKind::damaged, std::move(text), offset, ELOOP);
}
inline tl::unexpected<Error> invalid_argument(std::string text) {
  return tfile::fail(ErrorKind::invalid, std::move(text), -1, EINVAL);
}

// ---- Permissions

// The bits of a path, or ids that cannot be taken on, deny it.
inline tl::unexpected<Error> access_denied(std::string text) {
  return tfile::fail(ErrorKind::denied, std::move(text), -1, EACCES);
}
// No permission helps.
inline tl::unexpected<Error> not_permitted(std::string text) {
  return tfile::fail(ErrorKind::denied, std::move(text), -1, EPERM);
}
inline tl::unexpected<Error> read_only(std::string text = "cannot be changed here") {
  return tfile::fail(ErrorKind::denied, std::move(text), -1, EROFS);
}
// It can never be done. EIO would look like a failing disk.
inline tl::unexpected<Error> never_supported(std::string text) {
  return tfile::fail(ErrorKind::unsupported, std::move(text), -1, EOPNOTSUPP);
}

// ---- Files and handles

inline tl::unexpected<Error> unknown_handle() { return tfile::fail(ErrorKind::invalid, "unknown handle", -1, EBADF); }
inline tl::unexpected<Error> not_open_for_writing() {
  return tfile::fail(ErrorKind::denied, "not open for writing", -1, EBADF);
}
// Beyond what a file may be, as write(2) says it.
inline tl::unexpected<Error> file_too_large() { return tfile::fail(ErrorKind::invalid, "file too large", -1, EFBIG); }
inline tl::unexpected<Error> no_such_attribute() {
  return tfile::fail(ErrorKind::not_found, "no such attribute", -1, ENODATA);
}
// Programs then ask for such attributes once per mount.
inline tl::unexpected<Error> unsupported_attribute() {
  return tfile::fail(ErrorKind::unsupported, "only user.* attributes are supported", -1, ENOTSUP);
}

// ---- Time

// A commit, a rename, or another program is at it: trying again helps, which ESTALE would have the kernel do.
inline tl::unexpected<Error> busy(std::string text) { return tfile::fail(ErrorKind::busy, std::move(text), -1, EBUSY); }
// The entry that was looked up is committed, removed or unknown since: the kernel looks again.
inline tl::unexpected<Error> outdated(std::string text) {
  return tfile::fail(ErrorKind::stale, std::move(text), -1, ESTALE);
}
inline tl::unexpected<Error> no_thread() {
  return tfile::fail(ErrorKind::busy, "the cache is shutting down, or no thread could be created", -1, EAGAIN);
}

}  // namespace tfilefs
