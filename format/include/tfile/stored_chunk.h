// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tfile/stream_set.h"

namespace tfile {

// The bytes of a locator; they are in `into` unless the stream set owns them. Blocks. Errors: damaged (past the end of
// the source), io.
Result<std::span<const std::byte>> read_stored(const Locator&, std::vector<std::byte>& into);

// Decodes a chunk that others need for their counts (StreamSet::inputs), as if it were the first of its column: of its
// contents, only the numbers of items are right. Blocks. Errors: damaged, io.
Result<std::shared_ptr<const Chunk>> read_input(const StreamSet&, ChunkKey);

}  // namespace tfile
