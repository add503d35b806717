// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tfilefs {

// The kernel's device number of the mount at a path ("0:47"), which is the same at all its mount points; empty if there
// is no mount.
std::string mount_device(const std::string& absolute_path);

// The holders of a mount that was unmounted at one path: other paths in this mount namespace, and one process per
// other namespace, each with the command that lets go of it. The processes of other users are not all visible. Blocks.
std::vector<std::string> mount_holders(const std::string& device);

// The kernel's number of this process's PID namespace; 0 if it does not tell.
std::uint64_t pid_namespace();

// The ids of all processes, sorted; and the kernel's name of one ("cp"), empty if it is gone.
std::vector<pid_t> process_ids();
std::string process_name(const std::string& process);

// How a process uses a mount.
struct MountUse {
  enum class How : std::uint8_t { open, open_to_write, working_directory };
  std::string process;  // "process 4711 (cp)"
  std::string path;     // below the mount point: "/out.root/Events/px.f4"; "" is the mount point itself
  How how = How::open;
};

// All uses that this user may see. Blocks.
std::vector<MountUse> mount_uses(const std::string& mount_point);

}  // namespace tfilefs
