// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfilefs {

// Visits the newest cycle of each key of a file, a directory before what is in it. `path`: as a mount shows it. Returns
// what could not be read of directories, a line each.
std::vector<std::string> walk_keys(const tfile::File&,
                                   const std::function<void(const tfile::KeyInfo&, const std::string& path)>& visit);

// The tables of a file of this machine, "; it has Events, Muons" and how many more; nothing if it cannot be read.
// Blocks.
std::string told_tables(const std::string& file);

}  // namespace tfilefs
