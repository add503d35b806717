// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "vfs/source_tree.h"

namespace tfilefs {

// index.html of a mirrored directory: the page of all plots of the ROOT files in it and below, as they are when its
// size or its bytes are first asked for after this call. Only the mounting user and root have it. Limited as a
// PlotWalk, and in the files and directories that are looked at. If there are no plots, asking for either fails with
// not_found.
Result<Entry> source_index(std::shared_ptr<SourceTree>, const std::string& directory);

}  // namespace tfilefs
