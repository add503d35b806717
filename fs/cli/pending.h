// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

// What a live mount says of its writing: bytes that the commit under way has still to encode, what could not be
// committed, a line each, and the files of which bytes are neither in a ROOT file nor in a journal: because neither
// takes them, or (`written`) because a program is just writing them.
struct Pending {
  std::uint64_t left = 0;
  struct Reason {
    std::string path, reason;  // from the mount's root
  };
  std::vector<Reason> reasons;  // what the lines say
  std::vector<std::string> lines, unkept, written;
};
Pending read_pending(const std::string& mount_point);

// fsync(2) on a directory of a mount: commits what is whole below it. On a terminal it shows on stderr how far it is.
// Errors: io (with fsync's).
Result<> commit_directory(const std::string& mount_point, const std::string& directory);

}  // namespace tfilefs
