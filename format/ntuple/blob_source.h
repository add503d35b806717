// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compression/frame.h"
#include "ntuple/envelope.h"
#include "tfile/source.h"

namespace tfile {

// Whether a block of that size is split over several records. `max_key_size` 0: blocks are never split.
bool is_in_parts(std::uint64_t size, std::uint64_t max_key_size);

// The places of a block's bytes, in order. The first record of a split block has at its end the addresses of the
// others, and before that as many bytes as fit (RNTupleFileWriter::WriteBlob). One range if the block is not split.
// Errors: damaged; io. Blocks if the block is split.
Result<std::vector<ByteRange>> parts_of_block(const Source& file, ByteRange block, std::uint64_t max_key_size);

// A view of the source in which a split block reads as one range. Its bytes are not contiguous, so only the range of a
// whole block has a meaning. Code that joins adjacent ranges needs a separate source for each block.
std::shared_ptr<const Source> source_of_blobs(std::shared_ptr<const Source>, std::uint64_t max_key_size);

// The largest plausible envelope: one that decompresses to more than `size` must have a compression ratio below
// `ratio`. So a small file with false claims cannot take much memory.
struct SizeClaim {
  std::uint64_t size = 0, ratio = 0;
};

// Whether an envelope may be read. Errors: damaged (past the end of the file), unsupported (too large, larger than
// plausible, or with an unknown kind of locator).
Result<> check_envelope(const Source&, const EnvelopeLink&, const SizeClaim&);

// Reads and decompresses an envelope. Errors: as above; damaged; io.
Result<Buffer> read_envelope_bytes(const Source&, const EnvelopeLink&, const SizeClaim&);

}  // namespace tfile
