// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <span>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/source.h"

namespace tfile {

// A wanted range, and its bytes or error once it is read.
struct WantedBytes {
  const Source* source = nullptr;
  ByteRange range;
  Result<std::span<const std::byte>> bytes = std::span<const std::byte>();
};

// Reads all ranges in as few requests as possible: in the order of their addresses, through small gaps. A range that
// cannot be read does not affect the others. The returned buffers hold the bytes. Errors per range: damaged (past the
// end), those of Source::read. Blocks.
std::vector<Buffer> read_together(std::span<WantedBytes> wanted);

}  // namespace tfile
