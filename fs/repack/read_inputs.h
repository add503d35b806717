// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "reply.h"
#include "tfile/buffer.h"
#include "tfile/chunk.h"

namespace tfilefs {

// The stored bytes of many places, in their order.
struct StoredInputs {
  std::vector<Result<std::span<const std::byte>>> bytes;
  std::vector<tfile::Buffer> memory;  // holds them
};

// Reads all places in as few requests as possible: in the order of their addresses, through small gaps. One that cannot
// be read does not affect the others. Blocks. Errors of each: damaged (beyond the end of its source), those of
// Source::read.
StoredInputs read_inputs(std::span<const tfile::Locator>);

}  // namespace tfilefs
