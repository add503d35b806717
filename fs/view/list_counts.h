// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"
#include "view/column_lengths.h"

namespace tfilefs {

// By column: the offsets column whose last item says how many items it must have, or (of an offsets column) how many
// lists; none for what stands in no list, or not as its items: undecoded bytes of entries, the classes of a variant.
std::vector<std::optional<tfile::ColumnId>> counted_by(const tfile::Table&);

// By column: whether it has another number of items than its lists. Asked is only where another branch than its own has
// the lists; what is damaged does not count, nor does what has no length in `lengths`.
using Contradicted = std::vector<bool>;
void contradicted_columns(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&,
                          const ColumnLengths& lengths, Reply<Contradicted>);

// What a view of a whole table begins with: the lengths of its columns, and what it leaves out.
struct SoundLengths {
  ColumnLengths lengths;
  Contradicted left_out;
};
void sound_lengths(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&,
                   Reply<SoundLengths>);

}  // namespace tfilefs
