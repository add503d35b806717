// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfilefs {

// The page of all plots below a directory of a ROOT file, by the classes of its keys: no object is looked at. Bounded
// in plots, directories and depth; what is left out for that the page says. `path`: of the directory in the mount.
// `ancestors`: where the directories above lie. Blocks.
std::string plot_index(const tfile::File&, const tfile::DirectoryListing&, const std::string& path,
                       const std::vector<std::uint64_t>& ancestors);

}  // namespace tfilefs
