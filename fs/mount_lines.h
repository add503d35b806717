// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tfilefs {

struct MountLine {
  std::string device;  // the kernel's device number of the mount: "0:47"
  std::string point;   // as the process sees it
  std::string type;    // of the filesystem
  std::string source;  // the source, as the daemon names it
};

// A field of such a table as it is: the kernel writes blanks and backslashes in it as \ooo.
std::string plain_field(const std::string& field);

// The kernel's table of mounts for a process ("self", or its id); empty if the process is gone.
std::vector<MountLine> mounts_of(const std::string& process);

}  // namespace tfilefs
