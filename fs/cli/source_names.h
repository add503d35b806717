// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"
#include "vfs/file_system.h"

namespace tfilefs {

// A path on the host or on a server, and the rest, which is inside the ROOT file at the end of the first part.
struct SourcePath {
  std::string source, inside;
};

// "F.root/PATH" or "F.root:PATH". A server is not asked for each part of a path, and a pattern is no path: there, and
// before a colon, the name of a ROOT file ends in .root.
SourcePath split_source(const std::string& path);

struct ListedName {
  std::string name;
  bool is_directory = false;
};

// What a listing of the directory shows, sorted. Blocks.
Result<std::vector<ListedName>> names_in(FileSystem&, InodeId directory);

}  // namespace tfilefs
