// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "cache/cluster_cache.h"
#include "content.h"
#include "tfile/file.h"
#include "tfile/table.h"
#include "view/column_lengths.h"
#include "view/columnar_form.h"
#include "view/known_ranges.h"
#include "view/text_form.h"

namespace tfilefs {

// The file of a column: bytes straight from the cache. `length` is the answer of CachedStreams::length.
std::shared_ptr<Content> column_content(std::shared_ptr<CachedStreams>, const tfile::Column&, std::int64_t length);

// NAME.npy: header of format 1.0 (2.0 where the header needs it), padded to 64 bytes, then the column.
std::shared_ptr<Content> npy_content(std::shared_ptr<CachedStreams>, const tfile::Column&, std::int64_t length);

// Whether there are NODE.txt and TABLE.csv; the table must be fully known.
bool has_text(const tfile::Table&, tfile::NodeId);
bool has_csv(const tfile::Table&);

// NODE.txt: a line per entry; lists by spaces, strings as they are with control characters escaped; floats as the
// shortest text that reads back equal. One formatting pass gives the exact size, and an index of offsets that is kept.
void text_content(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, tfile::NodeId,
                  Reply<std::shared_ptr<Content>>);

// TABLE.jsonl, TABLE.json and TABLE.csv, in the same way (see text_form.h).
void table_text_content(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, TextStyle,
                        Reply<std::shared_ptr<Content>>);

// TABLE.arrow: an Arrow IPC file of one record batch, whose buffers are the unchanged bytes of the columns, aligned to
// 64: large lists, large strings, structs; fixed-size lists for shapes; booleans packed into bits. Rows that a shorter
// column does not have are null.
void arrow_content(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, StringsAs,
                   Reply<std::shared_ptr<Content>>);

// TABLE.parquet: uncompressed and PLAIN. Numbers are the column's bytes between headers of pages; booleans are bits,
// small integers take four bytes, strings stand behind their sizes. Levels are made from offsets, which are read once
// for that. Groups of rows follow clusters. `ranges`: for the footer; may be null. The size does not depend on them.
void parquet_content(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, StringsAs,
                     RangesByColumnPtr ranges, Reply<std::shared_ptr<Content>>);

// TABLE/.awkward.json: the form of the table in Awkward Array, whose buffers are the column files; for lists of 0 or 1,
// and for variants, also NODE/.option.npy.
std::string awkward_text(const tfile::Table&, const ColumnLengths&);

// NODE/.option.npy, the index of Awkward Array's option type: for a node of lists of 0 or 1, the number of the item of
// each, or -1; for a variant a single -1, to which its nulls point.
bool has_option_index(const tfile::Table&, tfile::NodeId);
void option_index_content(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, tfile::NodeId,
                          Reply<std::shared_ptr<Content>>);

// TABLE/.schema.json (docs/semantics/layout.md, "Schema"). `files`: of a chain, else null. `chosen_by`: the expressions
// that chose its entries, one after the other.
std::string schema_text(const tfile::Table&, const ColumnLengths&, const CachedStreams::Files*,
                        const std::vector<std::string>& chosen_by);

// COLUMN.baskets.json: where the baskets of a column, or its pages in an RNTuple, lie. Not of a ComposedTable, whose
// columns have none. Blocks: some baskets are looked at for their codec.
std::string baskets_text(const tfile::Table&, const tfile::Column&);

// The identity that a file gives itself, as uuid(1) writes it. Each file that is written has another.
std::string uuid_of(const tfile::File&);

std::string header_text(const tfile::File&);                // .header.json
std::string map_text(const std::vector<tfile::Record>&);    // .map.txt, TFile::Map's form
std::string streamer_info_text(const tfile::FileClasses&);  // .streamerinfo.json
}  // namespace tfilefs
