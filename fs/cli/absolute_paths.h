// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace tfilefs {

// Makes the paths of sources and in options absolute: names that are given in one directory are used in another.
void make_paths_absolute(std::vector<std::string>& sources, MountOptions&);

}  // namespace tfilefs
