// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "array/arrow_buffers.h"
#include "array/column_source.h"

namespace tfilefs {

// A column made from an Arrow file: its path below the table, as in a listing.
struct ArrowColumn {
  std::string path;
  std::uint64_t size = 0;  // bytes
  std::shared_ptr<const ColumnSource> bytes;
};

// Whether the file begins and ends as an Arrow IPC file does. Blocks. Errors: io.
Result<bool> is_whole_arrow(const ColumnSource& file, std::uint64_t size);

// The columns of such a file, in the order of its fields. Nothing is copied: their bytes are read from the file, and
// compressed ones are decompressed then. They are read by one thread at a time. Blocks to
// read the metadata of batches, and all indices and text views. Errors: invalid (contents that columns cannot have, or
// damage; names the field), io.
Result<std::vector<ArrowColumn>> arrow_columns(const std::shared_ptr<const ColumnSource>& file, std::uint64_t size,
                                               ArrowMemory memory);

}  // namespace tfilefs
