// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"

namespace tfilefs {

// The files and directories that a name stands for. A name with a pattern (vfs/path_pattern.h) stands for all that
// match, in order of their names; but if a file has the very name, for that file. Any other name stands for itself, and
// nothing is asked for it. Blocks. Errors: not_found (nothing matches, with the name), invalid, and those of reading
// directories: a list in which files may be missing is none.
Result<std::vector<std::string>> expand_sources(const std::string& name);

}  // namespace tfilefs
