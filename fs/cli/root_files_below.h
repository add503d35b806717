// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

// Whether the file can be read and has the first bytes of a ROOT file. Blocks.
bool begins_as_root_file(const std::string& path);

// The ROOT files in a directory of this machine and in all below it: those that begin as one, and those whose names end
// in .root, which should. In natural order of their paths (vfs/names/natural_order.h). Links to directories are not
// followed. `missed`: directories that cannot be read. Blocks.
std::vector<std::string> root_files_below(const std::string& directory, std::vector<Error>& missed);

}  // namespace tfilefs
