// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/source.h"

namespace tfile {

// Bytes that somebody wants, and what came of it.
struct WantedBytes {
  const Source* source = nullptr;
  ByteRange range;
  Result<std::span<const std::byte>> bytes = std::span<const std::byte>();
};

// Reads them all in as few requests as may be: in the order of their addresses, small gaps read through. What cannot be
// read takes nothing else with it. The bytes lie in what is returned. Errors of each: damaged (beyond the end), those
// of Source::read. Blocks.
std::vector<Buffer> read_together(std::span<WantedBytes> wanted);

}  // namespace tfile
