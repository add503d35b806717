// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"
#include "tfile/stream_set.h"

namespace tfile {

// The decompressed payload of a key as a stream of one chunk and one slot of bytes. What is stored in more bytes than
// fObjlen (the pages of RNTuples) is handed out as it is stored. Errors: damaged (sizes that cannot be). Reads nothing.
Result<std::shared_ptr<const StreamSet>> payload_streams(std::shared_ptr<const Source> source, const KeyInfo& key);

// A record found by its address alone, with what its own key says.
struct RecordContent {
  std::uint32_t keylen = 0;
  Buffer payload;  // decompressed
};

// Errors: damaged (no record there, or not of that size), unsupported (larger than size_max, decompressed), io. Reads.
Result<RecordContent> read_record(const Source& source, ByteRange record,
                                  std::uint64_t size_max = std::numeric_limits<std::uint64_t>::max());

// Reads and decompresses the payload at once. Errors: damaged, unsupported, io.
Result<Buffer> read_payload(const Source& source, const KeyInfo& key);

}  // namespace tfile
