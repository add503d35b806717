// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/attached_set.h"
#include "cache/cluster_cache.h"

namespace tfilefs {

// A stream set seen as columns of bytes: reads are answered from pinned chunks, at once where all are there.
std::shared_ptr<CachedStreams> make_cached_streams(std::shared_ptr<AttachedSet>);

}  // namespace tfilefs
