// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "container/key.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// What a walk from record to record meets.
struct WalkStep {
  enum class Kind : std::uint8_t {
    record,  // `key` is its key, whose views live as long as the call
    cut,     // a record that goes on behind the end; `key` as above. Always the last
    gap,     // a negative length, or stale bytes that the list of free segments knows
    lost,    // bytes that are neither, up to the end. Always the last
  } kind = Kind::record;
  ByteRange range;
  KeyHeader key;
};

// Follows the records from byte `begin` to `end` (at most the size of the source) by their lengths alone, as TFile::Map
// and TFile::Recover do, and gives each to `visit`; false from it ends the walk. Free space without a negative length
// in front, which ROOT cannot pass, is stepped over where `free_segments` (sorted by address) names it. Errors: io.
// Reads a small piece of each record.
Result<> walk_records(const Source& source, std::uint64_t begin, std::uint64_t end,
                      std::span<const ByteRange> free_segments, const std::function<bool(const WalkStep&)>& visit);

}  // namespace tfile
