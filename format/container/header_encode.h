// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tfile/file.h"

namespace tfile {

// Added to fVersion where addresses have 8 bytes.
inline constexpr std::int32_t kBigVersion = 1'000'000;

// The header's bytes from "root" to the end of the UUID: 63, or 75 where `big`. fVersion is written by `big`, whichever
// form the version of `header` has.
std::vector<std::byte> encode_header(const FileHeader& header);

}  // namespace tfile
