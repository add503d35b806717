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

// Whether a block of so many bytes lies in several records. `max_key_size` 0: no block is so large.
bool is_in_parts(std::uint64_t size, std::uint64_t max_key_size);

// Where the bytes of a block are, in their order: the first of its records holds as much as it can beside the addresses
// of the others, which stand at its end (RNTupleFileWriter::WriteBlob). One range where it is not in parts. Errors:
// damaged; io. Blocks where it is.
Result<std::vector<ByteRange>> parts_of_block(const Source& file, ByteRange block, std::uint64_t max_key_size);

// The same source, in which such a block reads as one. Its bytes are not side by side, so no range but that of a whole
// block means anything: what joins ranges that lie together needs a source for each block.
std::shared_ptr<const Source> source_of_blobs(std::shared_ptr<const Source>, std::uint64_t max_key_size);

// What an envelope may claim to decompress to: what is larger than `size` must have been compressed by less than
// `ratio`, so that a small file takes no more memory than it would if it was honest.
struct SizeClaim {
  std::uint64_t size = 0, ratio = 0;
};

// Whether an envelope may be read. Errors: damaged (beyond the end of the file), unsupported (larger than any or than
// it may claim, or in a place of a kind that is not known).
Result<> check_envelope(const Source&, const EnvelopeLink&, const SizeClaim&);

// Reads and decompresses an envelope. Errors: as above; damaged; io.
Result<Buffer> read_envelope_bytes(const Source&, const EnvelopeLink&, const SizeClaim&);

}  // namespace tfile
