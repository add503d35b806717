// SPDX-License-Identifier: Apache-2.0
#include "cache/cluster_cache.h"

#include "cache/cache_core.h"
#include "cache/cached_streams.h"

namespace tfilefs {
namespace {

class ClusterCacheOfMount : public ClusterCache {
 public:
  explicit ClusterCacheOfMount(const CacheOptions& options) : core_(std::make_shared<CacheCore>(options)) {}
  ~ClusterCacheOfMount() override { core_->stop(); }

  std::shared_ptr<CachedStreams> attach(std::shared_ptr<const tfile::StreamSet> streams) override {
    return make_cached_streams(std::make_shared<AttachedSet>(core_, std::move(streams)));
  }

  void run_blocking(std::function<void()> job) override { core_->fetcher.run(std::move(job), Urgency::awaited); }

  Counters counters() const override {
    const auto& from = core_->counters;
    Counters to;
    to.hits = from.hits;
    to.misses = from.misses;
    to.evictions = core_->chunks.evictions();
    to.bytes_read = from.bytes_read;
    to.read_calls = from.read_calls;
    to.bytes_decoded = from.bytes_decoded;
    to.chunks_decoded = from.chunks_decoded;
    to.budget_used = core_->budget->used();
    to.budget = core_->budget->size();
    return to;
  }

 private:
  const std::shared_ptr<CacheCore> core_;
};

}  // namespace

std::unique_ptr<ClusterCache> ClusterCache::create(const CacheOptions& options) {
  return std::make_unique<ClusterCacheOfMount>(options);
}

}  // namespace tfilefs
