// SPDX-License-Identifier: Apache-2.0
#include "cache/cluster_cache.h"

#include "cache/attached_streams.h"
#include "cache/cache_core.h"
#include "tfile/buffer.h"

namespace tfilefs {
ClusterCache::ClusterCache(const CacheOptions& options) : core_(std::make_shared<CacheCore>(options)) {
  // The planner never blocks. Bytes may be given back after the cache is gone.
  core_->budget->set_executor([weak = std::weak_ptr(core_)](std::function<void()> job) {
    const auto core = weak.lock();
    return core && core->exec.planner.run(std::move(job), Urgency::awaited);
  });
}

ClusterCache::~ClusterCache() { settle(); }

std::shared_ptr<CachedStreams> ClusterCache::attach(std::shared_ptr<const tfile::StreamSet> streams, TableLabel label) {
  return std::make_shared<AttachedStreams>(std::make_shared<AttachedSet>(core_, std::move(streams), std::move(label)));
}

Executors& ClusterCache::exec() { return core_->exec; }

PieceCache& ClusterCache::pieces() { return core_->pieces; }

PieceCache& ClusterCache::file_parts() { return core_->file_parts; }

bool ClusterCache::looks_ahead() const { return core_->options.prefetch != Prefetch::off; }

bool ClusterCache::learns() const { return core_->options.prefetch == Prefetch::learn; }

void ClusterCache::settle() { core_->stop(); }

void ClusterCache::give_back_idle() {
  core_->chunks.evict_handed();
  tfile::give_back_free_buffers();
}

const std::shared_ptr<Budget>& ClusterCache::budget() const { return core_->budget; }

CacheReport ClusterCache::report(bool with_streams) const {
  return {core_->counts.report(with_streams), core_->budget->size(), core_->budget->used(), core_->budget->peak()};
}

ClusterCache::Counters ClusterCache::counters() const {
  const CacheReport now = report(false);
  const ReadCounts sum = now.reading.total();
  return {sum[Count::hits],           sum[Count::misses],     sum[Count::evictions],
          sum[Count::bytes_read],     sum[Count::read_calls], sum[Count::bytes_decoded],
          sum[Count::chunks_decoded], now.budget_used,        now.budget};
}

}  // namespace tfilefs
