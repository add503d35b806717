// SPDX-License-Identifier: Apache-2.0
#include "cache/cluster_cache.h"

#include "cache/cache_core.h"
#include "cache/cached_streams.h"
#include "tfile/buffer.h"

namespace tfilefs {
namespace {

class ClusterCacheOfMount : public ClusterCache {
 public:
  explicit ClusterCacheOfMount(const CacheOptions& options) : core_(std::make_shared<CacheCore>(options)) {
    // The planner never blocks. Bytes may come back when the cache is gone.
    core_->budget->set_executor([weak = std::weak_ptr(core_)](std::function<void()> job) {
      const auto core = weak.lock();
      return core && core->exec.planner.run(std::move(job), Urgency::awaited);
    });
  }
  ~ClusterCacheOfMount() override { core_->stop(); }
  void settle() override { core_->stop(); }

  std::shared_ptr<CachedStreams> attach(std::shared_ptr<const tfile::StreamSet> streams, TableLabel label) override {
    return make_cached_streams(std::make_shared<AttachedSet>(core_, std::move(streams), std::move(label)));
  }

  Executors& exec() override { return core_->exec; }
  void give_back_idle() override {
    core_->chunks.evict_handed();
    tfile::give_back_free_buffers();
  }
  const std::shared_ptr<Budget>& budget() const override { return core_->budget; }

  CacheReport report(bool with_streams) const override {
    return {core_->counts.report(with_streams), core_->budget->size(), core_->budget->used(), core_->budget->peak()};
  }

 private:
  const std::shared_ptr<CacheCore> core_;
};

}  // namespace

ClusterCache::Counters ClusterCache::counters() const {
  const CacheReport now = report(false);
  const ReadCounts sum = now.reading.total();
  return {sum[Count::hits],           sum[Count::misses],     sum[Count::evictions],
          sum[Count::bytes_read],     sum[Count::read_calls], sum[Count::bytes_decoded],
          sum[Count::chunks_decoded], now.budget_used,        now.budget};
}

std::unique_ptr<ClusterCache> ClusterCache::create(const CacheOptions& options) {
  return std::make_unique<ClusterCacheOfMount>(options);
}

}  // namespace tfilefs
