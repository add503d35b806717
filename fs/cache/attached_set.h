// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/cache_core.h"
#include "cache/chunk_cache.h"
#include "cache/extent_store.h"
#include "cache/plans_under_way.h"
#include "cache/read_ahead.h"

namespace tfilefs {

// One stream set in the cache: its chunks, its extents, its counts, and how it is read. Alive while a file of it is
// open or one of its chunks is loading.
struct AttachedSet {
  AttachedSet(std::shared_ptr<CacheCore> core_, std::shared_ptr<const tfile::StreamSet> streams_, TableLabel label_)
      : core(std::move(core_)),
        streams(std::move(streams_)),
        label(std::move(label_)),
        counts(core->counts.open(label, streams)),
        ahead(*streams, core->options.prefetch, core->options.memory) {
    core->chunks.attach(chunks, *counts);
  }
  ~AttachedSet() {
    core->chunks.detach(chunks);
    core->counts.close(label, counts.get());
  }

  const std::shared_ptr<CacheCore> core;
  const std::shared_ptr<const tfile::StreamSet> streams;
  const TableLabel label;
  const std::shared_ptr<SetCounts> counts;
  SetChunks chunks;
  ExtentStore extents{counts->extents_memory};
  ReadAhead ahead;
  PlansUnderWay plans;
};

}  // namespace tfilefs
