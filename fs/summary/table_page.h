// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfile/table.h"
#include "view/column_lengths.h"

namespace tfilefs {

// TABLE/index.html: all columns with type and sizes, those of numbers with their picture, which a browser loads as it
// comes into view. `stored`: by column, the bytes that it takes. Sizes of columns without a length are left out. Pure.
std::string table_page(const tfile::Table&, const ColumnLengths&, const std::vector<std::uint64_t>& stored);

}  // namespace tfilefs
