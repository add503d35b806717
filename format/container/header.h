// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tfile/file.h"
#include "tfile/result.h"

namespace tfile {

// The size of the longest form of the header ("root", then 71 bytes of fields; docs/format.md, "Header").
inline constexpr std::size_t kHeaderSizeMax = 75;

// Reads the header at the beginning of a file. `start`: the first kHeaderSizeMax bytes, or the whole of a shorter file.
// Leaves name and title empty. Only the version says whether addresses have 4 or 8 bytes. Errors: damaged (no "root" at
// the beginning, cut short, a negative address).
Result<FileHeader> read_header(std::span<const std::byte> start);

// Added to fVersion if addresses have 8 bytes.
inline constexpr std::int32_t kBigVersion = 1'000'000;

// The bytes of the header from "root" to the end of the UUID: 63, or 75 if `big`. `big` also decides the form of
// fVersion, whatever form the version of `header` has.
std::vector<std::byte> encode_header(const FileHeader& header);

}  // namespace tfile
