// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "cache/attached_set.h"
#include "tfile/extents.h"

namespace tfilefs {

// Counts the items of streams whose payloads alone tell them, in this order, and calls `done` for each: at least for
// the first, unless the cache is closing, and for it after those that are counted with it. The chunks are fetched and
// decoded in batches, within the budget, and kept for the next reader while half of the budget is free. Errors of the
// storage end it. When `stop` is stopped, it is given up.
using Counted = std::function<void(tfile::StreamId, Result<tfile::Extents>)>;
void count_payloads(std::shared_ptr<AttachedSet>, std::vector<tfile::StreamId>, Counted done, std::stop_token stop);

}  // namespace tfilefs
