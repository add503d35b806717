// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// The size of the longest form of the header ("root", then 71 bytes of fields; docs/format.md, "Header").
inline constexpr std::size_t kHeaderSizeMax = 75;

// Reads the header at the beginning of a file. `start`: the first kHeaderSizeMax bytes, or the whole of a shorter file.
// Leaves name and title empty. Only the version says whether addresses have 4 or 8 bytes. Errors: damaged (no "root" at
// the beginning, cut short, a negative address).
Result<FileHeader> read_header(std::span<const std::byte> start);

}  // namespace tfile
