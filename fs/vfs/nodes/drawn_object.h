// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cache/cluster_cache.h"
#include "tfile/table.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {

// A whole table of which something is drawn.
struct DrawnTable {
  std::shared_ptr<const tfile::Table> table;
  std::shared_ptr<CachedStreams> streams;
  std::string path;  // in the mount
  Provenance from;
};

// Whether it can be drawn of the table. Errors: invalid.
Result<> check_drawing(const tfile::Table&, bool is_one_file, const std::string& text);

// Draws "EXPR;CUT;BINS;RANGES" (parse_drawing()) of a table, with the threads of a scan of their own, and gives a file
// in memory with the histogram as its only key, `htemp`. Errors: invalid, those of draw().
void draw_object(MountContext&, DrawnTable, const std::string& text, Reply<GenerationPtr>);

}  // namespace tfilefs
