// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/table.h"

namespace tfilefs {

// TABLE/index.html: all columns with type and sizes, those of numbers with their picture, which a browser loads as it
// comes into view. `stored`: by column, the bytes that it takes. Sizes that would need decoding are left out.
void table_page(std::shared_ptr<CachedStreams>, std::shared_ptr<const tfile::Table>, std::vector<std::uint64_t> stored,
                Reply<std::string>);

}  // namespace tfilefs
