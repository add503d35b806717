// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"

namespace tfilefs {

// By column; nothing for columns that cannot be read, or whose length is not known.
using ColumnLengths = std::vector<std::optional<std::int64_t>>;

// Asks for the lengths of all columns of a table at once; if `may_decode`, those that need it are computed by decoding.
void column_lengths(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&, bool may_decode,
                    Reply<ColumnLengths>);

// By column: the offsets column whose last item says how many items the column must have, or (for an offsets column)
// how many lists. Nothing for a column that is in no list, or whose items are not those of the list: undecoded bytes of
// entries, the classes of a variant.
std::vector<std::optional<tfile::ColumnId>> counted_by(const tfile::Table&);

// By column: whether its number of items differs from that of its lists. Checked only if the lists belong to another
// branch. Damaged columns, and those without a length in `lengths`, count as not contradicted.
using Contradicted = std::vector<bool>;
void contradicted_columns(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&,
                          const ColumnLengths& lengths, Reply<Contradicted>);

// The first step of a view of a whole table: the lengths of its columns, and the columns that it leaves out.
struct SoundLengths {
  ColumnLengths lengths;
  Contradicted left_out;
};
void sound_lengths(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&,
                   Reply<SoundLengths>);

// The sizes of the files that store these columns of a table, plus the bytes stored in its own record: there are no
// more bytes than that, whatever the chunks claim.
std::uint64_t source_bytes(const CachedStreams&, const tfile::Table&, const std::set<tfile::ColumnId>&);

}  // namespace tfilefs
