// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "compression/frame.h"
#include "ntuple/envelope.h"
#include "tfile/source.h"

namespace tfile {

// The same source, in which a block of more than `max_key_size` bytes reads as one, although it lies in several
// records: the first holds as much of it as it can beside the addresses of the others, which stand at its end
// (RNTupleFileWriter::WriteBlob). 0: no block is so large.
std::shared_ptr<const Source> source_of_blobs(std::shared_ptr<const Source>, std::uint64_t max_key_size);

// Reads and decompresses an envelope. Errors: damaged, unsupported (larger than any, or in a place of a kind that is
// not known), io.
Result<Buffer> read_envelope_bytes(const Source&, const EnvelopeLink&);

}  // namespace tfile
