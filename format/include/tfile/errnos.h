// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

// Not installed.

// Errnos for what stands for a system call and has to fail as that would, and for errors that say more than their kind.
// With result.h and fs/errors.h, which make whole errors, this is where errnos are chosen; a system call that failed
// has its own.
namespace tfile::errnos {

// The bits of a path, or a server, deny it.
inline constexpr int kAccessDenied = EACCES;
inline constexpr int kNotFound = ENOENT;
inline constexpr int kNotADirectory = ENOTDIR;
inline constexpr int kIsADirectory = EISDIR;
// Links beyond the kernel's limit, or one where none is followed.
inline constexpr int kTooManyLinks = ELOOP;
// Out of the directory below which a path must stay.
inline constexpr int kOutside = EXDEV;
// Another has the lock.
inline constexpr int kLocked = EAGAIN;
// No thread can be made, which another time may do.
inline constexpr int kNoThread = EAGAIN;
inline constexpr int kNoMemory = ENOMEM;
// The storage ends early, or takes no bytes.
inline constexpr int kStorageFailed = EIO;
// A thread of this program asks its own mount for something, and would wait for itself.
inline constexpr int kOwnMount = EDEADLK;

}  // namespace tfile::errnos
