// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bytes/kept_source.h"

namespace tfile {

// A source of which some parts are in memory, its first and last bytes above all: a file begins with its header and
// root directory; list of keys, StreamerInfo and the last trees are at its end. Reads within these parts need no I/O.
class EdgeSource final : public KeptSource {
 public:
  // With the first and last bytes held, read in one call. Errors: io. Blocks.
  static Result<std::shared_ptr<const EdgeSource>> over(std::shared_ptr<const Source>);
  // Without any yet.
  explicit EdgeSource(std::shared_ptr<const Source> whole) : KeptSource(std::move(whole), UINT64_MAX, 0) {}

  // Reads these ranges in one call, and keeps them. Ranges beyond the end of the file are left out. Errors: io. Blocks;
  // any thread.
  Result<> hold(const std::vector<ByteRange>&) const;
  // Also by the source, or beyond the end of the file.
  bool is_held(ByteRange) const;
  // The size of the kept bytes.
  std::size_t memory() const;
};

}  // namespace tfile
