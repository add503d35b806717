// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "container/key.h"
#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// One step of a walk from record to record.
struct WalkStep {
  enum class Kind : std::uint8_t {
    record,  // `key` is its key; the key's views are valid during the call
    cut,     // a record that continues past the end; `key` as above; always last
    gap,     // a negative length, or stale bytes in a listed free segment
    lost,    // bytes that are neither, up to the end; always last
  } kind = Kind::record;
  ByteRange range;
  KeyHeader key;
};

// Follows the records from byte `begin` to `end` (at most the size of the source) by their lengths alone, as TFile::Map
// and TFile::Recover do. Calls `visit` for each; false from it ends the walk. ROOT cannot pass free space that does not
// begin with its negative length; this walk skips it if it is in `free_segments` (sorted by address). Errors: io. Reads
// a small piece of each record.
Result<> walk_records(const Source& source, std::uint64_t begin, std::uint64_t end,
                      std::span<const ByteRange> free_segments, const std::function<bool(const WalkStep&)>& visit);

// Every stretch of the file from byte 0 to its end: header, records, gaps (adjacent ones merged), trailing bytes.
// Records to which the header or the root directory points have the names that TFile::Map gives them: "KeysList" (at
// `seek_keys`), "StreamerInfo", "FreeSegments". If the records cannot be followed, the rest up to fEND is one gap.
// Errors: io. Reads.
Result<std::vector<Record>> read_record_map(const Source& source, const FileHeader& header, std::int64_t seek_keys);

}  // namespace tfile
