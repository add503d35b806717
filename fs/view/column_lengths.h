// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"

namespace tfilefs {

// By column; nothing for columns that cannot be read, or whose length is not known.
using ColumnLengths = std::vector<std::optional<std::int64_t>>;

// Asks for the lengths of all columns of a table at once; if `may_decode`, those that need it are computed by decoding.
void column_lengths(const std::shared_ptr<CachedStreams>&, const std::shared_ptr<const tfile::Table>&, bool may_decode,
                    Reply<ColumnLengths>);

}  // namespace tfilefs
