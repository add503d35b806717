// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/cluster_cache.h"
#include "reply.h"
#include "tfile/buffer.h"
#include "tfile/kept_entries.h"
#include "tfile/node.h"
#include "tfile/range.h"
#include "tfile/writer.h"

namespace tfilefs {

// The columns of a field, each after the lists and variants in which it lies: those around it come first.
struct FieldOfColumns {
  std::vector<const tfile::Column*> columns;
  std::vector<std::uint32_t> lists;          // for each: the place in `columns` of the offsets around it, or kEachEntry
  std::vector<tfile::VariantPart> variants;  // as FieldForm::variants
  bool shares_items = false;                 // variants of an entry may have an item together: pointers of a tree
};

// Where the next entries begin, by column: the next offset, and of tags the next item of each alternative.
struct GatheredBegin {
  explicit GatheredBegin(std::size_t columns = 0) : offsets(columns), alternatives(columns) {}
  std::vector<std::int64_t> offsets;
  std::vector<std::vector<std::int64_t>> alternatives;
};

// The items of some entries, one after the other without those in between, as TableWriter::encode takes them.
struct GatheredItems {
  std::vector<tfile::Buffer> memory;
  std::vector<std::span<const std::byte>> columns;
  std::uint64_t bytes = 0;
};

// Reads the entries with numbers `kept` among those that are kept. Offsets and the index of variants begin at `begin`,
// which then has where the next ones begin. Blocks. Errors: damaged, with the column and an entry; those of reading.
Result<GatheredItems> gather_items(CachedStreams&, const FieldOfColumns&, const tfile::KeptEntries&,
                                   tfile::EntryRange kept, GatheredBegin& begin);

// Bytes of a column. Blocks. Errors: those of reading.
Result<tfile::Buffer> read_items(CachedStreams&, const tfile::Column&, tfile::ItemRange);

}  // namespace tfilefs
