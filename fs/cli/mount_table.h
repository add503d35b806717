// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

struct MountLine {
  std::string device;  // the kernel's number of what is mounted: "0:47"
  std::string point;   // as the process sees it
  std::string type;    // of the filesystem
  std::string source;  // what is mounted, as its daemon names it
};

// The kernel's table of mounts as a process ("self", or its id) has it; empty where it is gone.
std::vector<MountLine> mounts_of(const std::string& process);

// Whether the path is the mount point of a tfilefs (as the kernel's table of mounts says, dead or alive).
bool is_tfilefs_mount(const std::string& absolute_path);

// The mount point of the tfilefs that an absolute path lies in; empty where it lies in none.
std::string mount_point_above(const std::string& absolute_path);

// The absolute path, without links where it can be looked at; a dead mount point at its end is not looked into.
std::string absolute_path(const std::string& path);

// What a mount point whose daemon was killed shows, as that named it; nothing where the daemon lives.
std::optional<std::string> source_of_dead_mount(const std::string& absolute_path);

// Unmounts what a daemon that was killed has left at the path; nothing else is touched. Error: busy (one that lives).
Result<> clear_dead_mount(const std::string& absolute_path);

}  // namespace tfilefs
