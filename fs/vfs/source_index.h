// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "vfs/source_tree.h"

namespace tfilefs {

// index.html of a mirrored directory: the page of all plots of the ROOT files in it and below, as they are now. It is
// the mounting user's and root's. Bounded as a PlotWalk, and in the files and directories that are looked at. Blocks.
// Error: not_found (there is no plot).
Result<Entry> make_source_index(SourceTree&, const std::string& directory);

}  // namespace tfilefs
