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

// Drops what is staged in all files of the mount, which cannot be used any more. Errors: denied, busy (a part of it is
// of a mount that was killed).
Result<> discard_staged(const std::string& mount_point);

// Reports the data that writers which ended have left in journals, of a ROOT file or of all files in a directory and
// below: a line per file, with its path and how to recover the data. Changes nothing. Blocks.
std::vector<std::string> abandoned_journals(const std::string& source);

}  // namespace tfilefs
