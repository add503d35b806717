// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/far_listing.h"
#include "vfs/directory.h"
#include "vfs/far_tree.h"

namespace tfilefs {

// A directory of a server. `told`: as the list of the directory above it has it.
std::shared_ptr<const Holder> make_far_directory(std::shared_ptr<FarTree>, std::string path,
                                                 const tfile::FarEntry& told);

}  // namespace tfilefs
