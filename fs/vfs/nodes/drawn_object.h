// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cache/cluster_cache.h"
#include "query/draw.h"
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

// "EXPR;CUT;BINS;RANGES" (parse_drawing()), of a histogram that is in memory as a whole. Errors: invalid.
Result<DrawRequest> drawing_in_memory(const std::string& text);

// Draws it of a table, with the threads of a scan of their own, and gives a file in memory with the histogram as its
// only key, `htemp`. `query`: that of the text (bind_drawing()). Errors: those of draw().
void draw_object(MountContext&, DrawnTable, const std::string& text, const Query& query, Reply<GenerationPtr>);

}  // namespace tfilefs
