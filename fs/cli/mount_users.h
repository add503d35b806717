// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfilefs {

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
