// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tfile/table.h"

namespace tfilefs {

// The sizes of the files that store the columns of a table, plus the bytes stored in its own record: there are no more
// bytes than that, whatever the chunks claim.
std::uint64_t source_bytes(const tfile::StreamSet&, const tfile::Table&);

}  // namespace tfilefs
