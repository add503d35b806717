// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tfile/table.h"
#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Estimated bytes of a table's parts: names, nodes and columns; streams; branches with their basket tables. Entry
// boundaries that branches share count once.
std::size_t memory_of(const Table&);
std::size_t memory_of(std::span<const Stream>);
std::size_t memory_of(std::span<const BranchStorage>);
// A tree record without the storage of its branches.
std::size_t memory_of(const TreeRecord&);

}  // namespace tfile
