// SPDX-License-Identifier: Apache-2.0
#include "cache/payload_count.h"

#include <algorithm>

#include "cache/load.h"
#include "exec/trampoline.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::Extents;
using tfile::StreamId;

// Stored and decoded bytes in flight while items are counted; and no more than a quarter of the budget. Enough for many
// read calls, so that most of a batch is decoded while the rest is fetched.
constexpr std::uint64_t kCountBatchBytes = 64 << 20;

class PayloadCount : public std::enable_shared_from_this<PayloadCount> {
 public:
  PayloadCount(std::shared_ptr<AttachedSet> set, std::vector<StreamId> streams, Counted done, std::stop_token stop)
      : set_(std::move(set)), done_(std::move(done)), stop_token_(std::move(stop)) {
    for (const StreamId stream : streams)
      sums_.push_back({stream, tfile::ExtentSum(set_->streams->slot_count(stream))});
  }

  void next() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  struct Sum {
    StreamId stream;
    tfile::ExtentSum items;
  };

  void step() {
    if (stop_token_.stop_requested()) {
      if (told_ == 0) done_(sums_.front().stream, cancelled());
      return;
    }
    tell();
    std::vector<ChunkKey> keys;
    const std::vector<std::size_t> sums = next_batch(keys);
    if (keys.empty()) return tell();
    auto counted = [self = shared_from_this(), keys, sums](Result<ItemCounts> counts) {
      if (!counts) return self->fail(counts.error());
      for (std::size_t i = 0; i < keys.size(); ++i)
        self->add(self->sums_[sums[i]].items, keys[i], std::move((*counts)[i]));
      self->next();
    };
    load_item_counts(set_, keys, Reply<ItemCounts>(std::move(counted), stop_token_));
  }

  // The chunks to be counted next, and the sum to which each belongs.
  std::vector<std::size_t> next_batch(std::vector<ChunkKey>& keys) {
    const tfile::StreamSet& streams = *set_->streams;
    const std::uint64_t bytes_max = std::min(kCountBatchBytes, set_->core->options.memory / 4);
    std::vector<std::size_t> sums;
    for (std::uint64_t bytes = 0; at_ < sums_.size() && bytes <= bytes_max;) {
      const StreamId stream = sums_[at_].stream;
      if (!sums_[at_].items.is_open() || next_ == streams.chunk_count(stream)) {
        ++at_;
        next_ = 0;
        continue;
      }
      const ChunkKey key{stream, static_cast<std::uint32_t>(next_++)};
      const auto locator = streams.locate(key);
      bytes += std::min(streams.decoded_size(key), kCountBatchBytes) +
               (locator ? std::min(locator->range.size, kCountBatchBytes) : 0);
      keys.push_back(key);
      sums.push_back(at_);
    }
    return sums;
  }

  // Of the streams that are counted to their end, the first one last: who waits for it may ask for the others next.
  void tell() {
    for (std::size_t i = at_; i-- > told_;) done_(sums_[i].stream, sums_[i].items.take());
    told_ = at_;
  }

  // The storage failed; if more than the first stream was asked for, perhaps not there.
  void fail(const Error& error) {
    const StreamId first = sums_.front().stream;
    if (told_ > 0) return;
    if (sums_.size() == 1) return done_(first, tl::unexpected<Error>(error));
    sums_.assign(1, {first, tfile::ExtentSum(set_->streams->slot_count(first))});
    at_ = next_ = 0;
    next();
  }

  void add(tfile::ExtentSum& sum, ChunkKey key, CountedItems counted) {
    const std::vector<std::int64_t> first = sum.end();
    counted.items ? sum.add(*counted.items) : sum.stop(counted.items.error());
    CacheCore& core = *set_->core;
    if (!sum.is_open() || !counted.chunk || core.budget->used() > core.budget->size() / 2) return;
    set_->streams->counter()->place(key, *counted.chunk, first);
    AtomicReadCounts& counts = set_->counts->stream(key.stream);
    counts.add(Count::chunks_decoded, 1);
    for (const auto array : counted.chunk->arrays) counts.add(Count::bytes_decoded, array.size());
    core.chunks.keep(set_->chunks, key, hold_chunk(*std::move(counted.chunk), std::move(counted.memory)));
    core.budget->changed();  // it is idle, and the requests that wait for memory have not seen it yet
  }

  const std::shared_ptr<AttachedSet> set_;
  const Counted done_;
  const std::stop_token stop_token_;
  std::vector<Sum> sums_;
  std::size_t at_ = 0, next_ = 0;  // the stream and its chunk that come next
  std::size_t told_ = 0;           // streams
  Trampoline loop_;
};

}  // namespace

void count_payloads(std::shared_ptr<AttachedSet> set, std::vector<StreamId> streams, Counted done,
                    std::stop_token stop) {
  std::make_shared<PayloadCount>(std::move(set), std::move(streams), std::move(done), std::move(stop))->next();
}

}  // namespace tfilefs
