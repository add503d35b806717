// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tfile/file.h"
#include "tfile/range.h"
#include "tfile/result.h"
#include "tfile/source.h"

namespace tfile {

// The file's free list (docs/format.md, "Gaps and the free list"), sorted by address. The last segment begins at fEND
// and ends far past it. Empty if the header has no list. Errors: damaged, io. Reads.
Result<std::vector<ByteRange>> read_free_segments(const Source& source, const FileHeader& header);

}  // namespace tfile
