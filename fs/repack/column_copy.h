// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "repack/chain_source.h"
#include "repack/name_filter.h"
#include "repack/table_work.h"
#include "reply.h"
#include "tfile/kept_entries.h"
#include "tfile/streamed_class.h"
#include "tfile/writer.h"

namespace tfilefs {

// The columns of a table that can be written in a format, and those that cannot.
struct OfferedTable {
  std::vector<const tfile::Column*> columns;  // as offered
  std::vector<tfile::InputColumn> offered;
  tfile::WriteSchema form;
  std::map<std::string, tfile::StreamedClass> streamed;  // raw ones, by Column::branch
  std::vector<std::string> left_out;                     // "tracks: what a tree does not hold: ..."
  std::vector<std::string> renamed;                      // "x.y: it is x_y: ..."
};
// The fields that raw columns become.
struct RawFields {
  bool are_kept = false;                                     // as streamer fields, where the format has them
  std::map<std::string, tfile::StreamedClass> classes = {};  // those that can be kept, by Column::branch
};
// Fields, by name, of which entries have shown that they cannot be written, and why.
using RefusedFields = std::map<std::string, std::string>;
// From what to what a table is converted.
struct Conversion {
  tfile::TableFormat from = tfile::TableFormat::tree, to = tfile::TableFormat::tree;
};
// Reads what tells what counts lists (find_counters, find_projections). Blocks. Errors: those of reading.
Result<OfferedTable> offered_table(const ChainSource&, Conversion, const RawFields&, const RefusedFields&,
                                   const NameFilter&);

struct CopiedColumns {
  std::uint64_t bytes = 0;  // stored, that were written; if nothing is to be written, about how many it would be
  RefusedFields refused;    // if there are any, the table that was begun is worth nothing
};
// Writes the kept entries of these columns into a new table, cluster by cluster. If nothing is to be written, it looks
// at samples alone. Once a field is refused (a counter that contradicts its list, a key of a map that is there twice,
// an entry above 1 GiB, a raw field that cannot be kept), nothing more is written, and the other entries are read only
// for more such fields. Blocks. Errors: damaged, those of reading and writing, ECANCELED.
Result<CopiedColumns> copy_columns(ChainSource&, OfferedTable, const tfile::KeptEntries&, tfile::TableWriter&,
                                   const TableWork&, std::uint64_t cluster_bytes);

// Entries that are tried together, range by range: those that are kept of it.
struct TriedEntries {
  const tfile::KeptEntries& kept;
  std::span<const tfile::EntryRange> ranges;
};
// Reads all columns of these entries, without writing: what is damaged is told, with its range. Blocks.
Result<> try_columns(ChainSource&, const OfferedTable&, const TriedEntries&, const TableWork&,
                     const std::function<void(tfile::EntryRange, const Error&)>& damaged);

}  // namespace tfilefs
