// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace tfile {

// ROOT's settings, 100 * algorithm + level, as "zlib:1"; "none" if nothing is compressed.
std::string compression_text(std::int32_t settings);

}  // namespace tfile
