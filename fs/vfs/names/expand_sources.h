// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"
#include "tfile/source.h"
#include "vfs/names/path_pattern.h"

namespace tfilefs {

// The files and directories that a name stands for. A name with a pattern (vfs/names/path_pattern.h) stands for all
// that match, in natural order of their names (vfs/names/natural_order.h); but if a file has the very name, for that
// file (at a server: if nothing matches). Any other name stands for itself, and nothing is asked for it. In a URL the
// path may have patterns (tfile::url_parts); each of the results keeps the query string. Blocks. Errors: not_found
// (nothing matches, with the name), invalid, and those of reading directories: a list in which files may be missing is
// none.
Result<std::vector<std::string>> expand_sources(const std::string& name, const tfile::RemoteOptions& = {});

// The directory of a URL whose path has a pattern, and which paths below it match. Error: invalid. Pure.
struct RemotePattern {
  std::string directory;
  PathPattern shown;
};
Result<RemotePattern> remote_pattern(const std::string& url);

}  // namespace tfilefs
