// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vfs/file_system.h"

namespace tfilefs {

// The first commands to try in a mount, in a line for a terminal: "tfilefs: try head mnt/Events.csv, or ...". Opens the
// first table. Blocks.
std::string first_steps(FileSystem&, const std::string& mount_point);

}  // namespace tfilefs
