// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "streamer/layout/array_builder.h"
#include "streamer/layout/read_program.h"
#include "tfile/stream_set.h"

namespace tfile {

// The arrays that a program filled, in final form and next to each other in one buffer. `first` as in
// StreamSet::decode.
Chunk chunk_of_arrays(const Program&, std::span<const ArrayBuilder>, std::span<const std::int64_t> first);

// Moves a chunk to its place in the columns. It was decoded with ends and positions counted from its own start.
void place_chunk(const Program&, std::span<const std::int64_t> first, Chunk&);

}  // namespace tfile
