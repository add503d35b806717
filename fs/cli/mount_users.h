// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tfilefs {

// A file of a mount that a process has open to write.
struct OpenToWrite {
  std::string process;  // "process 4711 (cp)"
  std::string path;     // below the mount point: "/out.root/Events/px.f4"
};

// Those of which this user may know. Blocks.
std::vector<OpenToWrite> files_open_to_write(const std::string& mount_point);

}  // namespace tfilefs
