// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tfile/source.h"

namespace tfile {

// A source of which some parts are in memory. Reads within these need no I/O.
class HeldSource : public Source {
 public:
  // Reads these ranges in one call, and keeps them. Ranges beyond the end of the
  // file are left out. Errors: io. Blocks; any thread.
  virtual Result<> hold(std::vector<ByteRange>) const = 0;
  // Of the kept bytes.
  virtual std::size_t memory() const = 0;
};

// The same source with its first and last bytes held, read in one call. A file begins with its header and root
// directory; list of keys, StreamerInfo and the last trees are at its end. Errors: io. Blocks.
Result<std::shared_ptr<const HeldSource>> with_edges(std::shared_ptr<const Source>);

}  // namespace tfile
