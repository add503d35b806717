// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

// The state of writing in a live mount: bytes that the current commit has still to encode; the reasons why something
// could not be committed, a line each; and the files with bytes that are neither in a ROOT file nor in a journal:
// because neither accepts them, or (`written`) because a program is writing them now.
struct Pending {
  std::uint64_t left = 0;
  struct Reason {
    std::string path, reason;  // from the mount's root
  };
  std::vector<Reason> reasons;  // the lines, parsed
  std::vector<std::string> lines, unkept, written;
};
Pending read_pending(const std::string& mount_point);

// fsync(2) on a directory of a mount: commits all complete tables below it. On a terminal it shows the progress on
// stderr. Errors: io (with fsync's).
Result<> commit_directory(const std::string& mount_point, const std::string& directory);

}  // namespace tfilefs
