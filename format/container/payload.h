// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"
#include "tfile/stream_set.h"
#include "tfile/writer.h"

namespace tfile {

// The decompressed payload of a key as a stream of one chunk, with one slot of bytes. A payload stored in more bytes
// than fObjlen (the pages of RNTuples) stays as it is. Errors: damaged (impossible sizes). Reads nothing.
Result<std::shared_ptr<const StreamSet>> payload_streams(std::shared_ptr<const Source> source, const KeyInfo& key);

// A record found by its address alone, as its own key describes it.
struct RecordContent {
  std::uint32_t keylen = 0;
  Buffer payload;  // decompressed
};

// Errors: damaged (no record there, or of another size), unsupported (decompressed larger than size_max), io. Reads.
Result<RecordContent> read_record(const Source& source, ByteRange record,
                                  std::uint64_t size_max = std::numeric_limits<std::uint64_t>::max());

// Reads and decompresses the payload in one step. Errors: damaged, unsupported, io.
Result<Buffer> read_payload(const Source& source, const KeyInfo& key);

// The bytes in which a record stores the payload: compressed if that makes them fewer. Errors: unsupported (above 1
// GiB), no_space (memory).
Result<std::vector<std::byte>> stored_payload(std::span<const std::byte> payload, const Compression&);

}  // namespace tfile
