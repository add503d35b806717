// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "tfile/table.h"
#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

// What a table holds: its names, nodes and columns; its streams; its branches with their basket tables (entry
// boundaries that several have in common once). Bytes, estimated.
std::size_t memory_of(const Table&);
std::size_t memory_of(std::span<const Stream>);
std::size_t memory_of(std::span<const BranchStorage>);
// A record without what its branches store.
std::size_t memory_of(const TreeRecord&);

}  // namespace tfile
