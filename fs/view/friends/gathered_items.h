// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/buffer.h"

namespace tfilefs {

// Bytes of a column, and where they go in a buffer.
struct Pick {
  std::uint64_t from = 0, size = 0, to = 0;
};

// A column that is read.
struct PickedColumn {
  tfile::StreamId stream = 0;
  std::uint32_t slot = 0;
  std::size_t item_size = 0;
};

// Brings ranges of a column, in any order, into the buffer. They are read in the order in which they lie, some at the
// same time; what lies close together is one read, and no part of the column is held longer than it is copied. Errors:
// those of reading, damaged (the column ends before a range).
void pick_items(std::shared_ptr<CachedStreams>, const PickedColumn&, std::vector<Pick>, std::shared_ptr<tfile::Buffer>,
                ReadUse, Reply<void>);

}  // namespace tfilefs
