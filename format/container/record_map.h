// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// Every stretch of the file from byte 0 to its end: header, records, gaps (adjacent ones merged), trailing bytes.
// Records to which the header or the root directory points have the names that TFile::Map gives them: "KeysList" (at
// `seek_keys`), "StreamerInfo", "FreeSegments". If the records cannot be followed, the rest up to fEND is one gap.
// Errors: io. Reads.
Result<std::vector<Record>> read_record_map(const Source& source, const FileHeader& header, std::int64_t seek_keys);

}  // namespace tfile
