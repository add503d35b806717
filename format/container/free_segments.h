// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The file's list of free segments (docs/format.md, "Gaps and the free list"), sorted by address; the last one begins
// at fEND and ends far behind it. Empty where the header knows no list. Errors: damaged, io. Reads.
Result<std::vector<ByteRange>> read_free_segments(const Source& source, const FileHeader& header);

}  // namespace tfile
