// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "tfile/source.h"

namespace tfile {

// The same source with its first and last bytes in memory, read by one call: header and root directory stand at a
// file's beginning, list of keys, StreamerInfo and the last trees at its end. Reads that lie within them cost nothing.
// Errors: io. Blocks.
struct Edges {
  std::shared_ptr<const Source> source;
  std::size_t memory = 0;  // what it holds
};
Result<Edges> with_edges(std::shared_ptr<const Source>);

}  // namespace tfile
