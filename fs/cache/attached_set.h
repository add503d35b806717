// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cache_core.h"
#include "cache/chunk_cache.h"
#include "cache/extent_store.h"
#include "cache/read_ahead.h"

namespace tfilefs {

// One stream set in the cache: its chunks, its extents, and who reads it how. Alive while a file of it is open or one
// of its chunks is loading.
struct AttachedSet {
  AttachedSet(std::shared_ptr<CacheCore> core_, std::shared_ptr<const tfile::StreamSet> streams_)
      : core(std::move(core_)),
        streams(std::move(streams_)),
        ahead(*streams, core->options.prefetch, core->options.memory) {
    core->chunks.attach(chunks);
  }
  ~AttachedSet() { core->chunks.detach(chunks); }

  const std::shared_ptr<CacheCore> core;
  const std::shared_ptr<const tfile::StreamSet> streams;
  SetChunks chunks;
  ExtentStore extents;
  ReadAhead ahead;
};

}  // namespace tfilefs
