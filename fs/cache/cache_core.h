// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cache/budget.h"
#include "cache/chunk_cache.h"
#include "cache/cluster_cache.h"
#include "cache/count_registry.h"
#include "cache/piece_cache.h"
#include "exec/executors.h"

namespace tfilefs {

// The parts of the cache. All loads refer to them.
struct CacheCore {
  explicit CacheCore(const CacheOptions& options_)
      : options(options_),
        budget(std::make_shared<Budget>(options.memory)),
        chunks(options.memory),
        pieces(budget, kViewPieces, 16),
        file_parts(budget, kFileParts, 8),
        exec(options.threads, options.io_threads, options.job_threads),
        counts(options.counts_streams) {
    budget->set_evictor([this](std::uint64_t bytes, Budget::Evict which) { chunks.evict(bytes, which); });
  }

  // Accepts no more work, ends the work in flight, and joins the threads.
  void stop() {
    budget->close();
    exec.stop();
  }

  const CacheOptions options;
  const std::shared_ptr<Budget> budget;
  ChunkCache chunks;
  // For views: enough for a few readers, each with its piece and the next one; a piece is up to about a megabyte.
  static constexpr std::size_t kViewPieces = 4 << 20;
  PieceCache pieces;
  // For files of chains: a column of 64 KB in each of a thousand files.
  static constexpr std::size_t kFileParts = 64 << 20;
  PieceCache file_parts;
  Executors exec;
  CountRegistry counts;
};

}  // namespace tfilefs
