// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "reply.h"
#include "table_build/field_items.h"
#include "tfile/buffer.h"
#include "tfile/kept_entries.h"
#include "tfile/node.h"
#include "tfile/range.h"
#include "tfile/streamed_class.h"

namespace tfilefs {

// The columns of a field, each after those in which it lies.
struct FieldOfColumns : FieldNesting {
  std::vector<const tfile::Column*> columns;
  bool shares_items = false;  // variants of an entry may have an item together: pointers of a tree
};

// The entries of a table to read, by their numbers among those that are kept. All of it stays where it is.
struct SelectedEntries {
  CachedStreams& streams;
  const tfile::KeptEntries& kept;
  // Raw columns that become what the streamers of their classes write, by Column::branch. Null: all are read as they
  // are.
  const std::map<std::string, tfile::StreamedClass>* streamed = nullptr;
};

// Reads a field from entry number `begin` on, one entry after the other without those in between; lists and variants
// are numbered from there on. Errors: damaged, with the column and an entry; those of reading.
ReadItems selected_items(const SelectedEntries&, const FieldOfColumns&, std::int64_t begin);

// Bytes of a column. Blocks. Errors: those of reading.
Result<tfile::Buffer> read_items(CachedStreams&, const tfile::Column&, tfile::ItemRange);

}  // namespace tfilefs
