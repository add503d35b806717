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

// "FILE/PATH" or "FILE:PATH", where FILE is the longest name of a file, or a pattern (vfs/names/path_pattern.h) of
// files; with neither there, and at a server, which is not asked for each part of a path, a name that ends in .root. At
// a server the first colon of the path of a URL will do, too; the query string stays with the source. Blocks.
SourcePath split_source(const std::string& path);

struct ListedName {
  std::string name;
  bool is_directory = false;
};

// The names in a listing of the directory, sorted. Blocks.
Result<std::vector<ListedName>> names_in(FileSystem&, InodeId directory);

}  // namespace tfilefs
