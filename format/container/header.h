// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// The bytes that the longest form of the header takes ("root", then 71 of fields; docs/format.md, "Header").
inline constexpr std::size_t kHeaderSizeMax = 75;

// Reads the header at the first byte of a file. `start`: the first kHeaderSizeMax bytes, or the whole of a shorter
// file; name and title are left empty. Whether addresses have 4 or 8 bytes is told by the version alone. Errors:
// damaged (no "root" in front, cut short, a negative address).
Result<FileHeader> read_header(std::span<const std::byte> start);

}  // namespace tfile
