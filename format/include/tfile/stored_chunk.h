// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tfile/stream_set.h"

namespace tfile {

// The bytes of a locator; `into` holds them where they are not the stream set's own. Blocks. Errors: damaged (beyond
// the end of the source), io.
Result<std::span<const std::byte>> read_stored(const Locator&, std::vector<std::byte>& into);

// A chunk that others need for their counts (StreamSet::inputs), decoded as if it were its column's first: of what it
// holds only numbers of items are right. Blocks. Errors: damaged, io.
Result<std::shared_ptr<const Chunk>> read_input(const StreamSet&, ChunkKey);

}  // namespace tfile
