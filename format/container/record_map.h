// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// Every stretch of the file from byte 0 to its end: header, records, gaps (neighbouring ones as one), trailing bytes.
// Records whose place the header or the root directory knows are named as TFile::Map names them: "KeysList" (at
// `seek_keys`), "StreamerInfo", "FreeSegments". What cannot be followed is one gap up to fEND. Errors: io. Reads.
Result<std::vector<Record>> read_record_map(const Source& source, const FileHeader& header, std::int64_t seek_keys);

}  // namespace tfile
