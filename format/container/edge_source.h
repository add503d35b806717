// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "tfile/source.h"

namespace tfile {

// The same source with its first and last bytes in memory, read in one call. A file begins with its header and root
// directory; list of keys, StreamerInfo and the last trees are at its end. Reads within these bytes need no I/O.
// Errors: io. Blocks.
struct Edges {
  std::shared_ptr<const Source> source;
  std::size_t memory = 0;  // of the kept bytes
};
Result<Edges> with_edges(std::shared_ptr<const Source>);

}  // namespace tfile
