// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tfile/table.h"

namespace tfilefs {

// The sizes of the files that the columns of a table are stored in, and of what its record holds of them itself:
// whatever chunks claim, there are no more bytes.
std::uint64_t source_bytes(const tfile::StreamSet&, const tfile::Table&);

}  // namespace tfilefs
