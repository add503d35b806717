// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mount_lines.h"
#include "reply.h"

namespace tfilefs {

// Whether the path is the mount point of a tfilefs, dead or alive, by the kernel's table of mounts.
bool is_tfilefs_mount(const std::string& absolute_path);

// The error of a path that is none, for which there is `reason`; or that the kernel's table cannot be read.
Error no_mount(const std::string& path, const std::string& reason);

// The mount point of the tfilefs that contains an absolute path; empty if there is none.
std::string mount_point_above(const std::string& absolute_path);

// The absolute path, with links resolved as far as possible. A dead mount point at its end is not accessed.
std::string absolute_path(const std::string& path);

// The source of a mount point whose daemon was killed, as the daemon named it; nothing if the daemon lives.
std::optional<std::string> source_of_dead_mount(const std::string& absolute_path);

// Unmounts what a killed daemon has left at the path; touches no other mount. Error: busy (a mount that is alive).
Result<> clear_dead_mount(const std::string& absolute_path);

}  // namespace tfilefs
