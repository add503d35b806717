// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"

namespace tfilefs {

// By column; none for what cannot be read, or is unread.
using ColumnLengths = std::vector<std::optional<std::int64_t>>;

// Asks for the lengths of all columns of a table at once; those that need it are computed by decoding, if `may_decode`.
void column_lengths(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&, bool may_decode,
                    Reply<ColumnLengths>);

}  // namespace tfilefs
