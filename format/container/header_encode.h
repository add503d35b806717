// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tfile/file.h"

namespace tfile {

// Added to fVersion if addresses have 8 bytes.
inline constexpr std::int32_t kBigVersion = 1'000'000;

// The bytes of the header from "root" to the end of the UUID: 63, or 75 if `big`. `big` also decides the form of
// fVersion, whatever form the version of `header` has.
std::vector<std::byte> encode_header(const FileHeader& header);

}  // namespace tfile
