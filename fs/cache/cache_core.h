// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>

#include "cache/budget.h"
#include "cache/chunk_cache.h"
#include "cache/cluster_cache.h"
#include "cache/count_registry.h"
#include "cache/decoder.h"
#include "cache/fetcher.h"

namespace tfilefs {

// The parts of the cache, which everything that loads refers to.
struct CacheCore {
  explicit CacheCore(const CacheOptions& options_)
      : options(options_),
        budget(std::make_shared<Budget>(options.memory)),
        chunks(options.memory),
        decoder(options.threads),
        fetcher(options.fetch_threads),
        maker(std::max(2u, options.threads)) {
    budget->set_evictor([this](std::uint64_t bytes, Budget::Evict which) { chunks.evict(bytes, which); });
  }

  // Nothing new is let in, what is in flight ends, the threads are gone.
  void stop() {
    budget->close();
    fetcher.stop();
    maker.stop();
    decoder.stop();
  }

  const CacheOptions options;
  const std::shared_ptr<Budget> budget;
  ChunkCache chunks;
  Decoder decoder;
  Fetcher fetcher;
  // Threads that make views: long work on few bytes, which takes none of those that read columns wait for.
  Fetcher maker;
  CountRegistry counts;
};

}  // namespace tfilefs
