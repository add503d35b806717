// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <memory>
#include <string>

#include "content.h"
#include "descriptor.h"
#include "vfs/mirror/source_tree.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// A directory of a mirrored tree.
std::shared_ptr<const Vnodes> make_source_directory(std::shared_ptr<SourceTree>, std::string path);

// Anything else that is not a ROOT file, shown unchanged. `status`: as just seen.
std::shared_ptr<const Vnodes> make_source_file(std::shared_ptr<SourceTree>, std::string path,
                                               const struct stat& status);

// The file of the host that is shown unchanged, open; null where the content is anything else.
std::shared_ptr<const Descriptor> host_file_of(const Content&);

// index.html of a mirrored directory: the page of all plots of the ROOT files in it and below, as they are when its
// size or its bytes are first asked for after this call. Only the mounting user and root have it. Limited as a
// PlotWalk, and in the files and directories that are looked at. If there are no plots, asking for either fails with
// not_found.
Result<Entry> source_index(std::shared_ptr<SourceTree>, const std::string& directory);

}  // namespace tfilefs
