// SPDX-License-Identifier: Apache-2.0
#include "cache/payload_count.h"

#include <algorithm>

#include "cache/load.h"
#include "exec/when_all.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::Extents;
using tfile::StreamId;

// Stored and decoded bytes in flight while items are counted; and no more than a quarter of the budget. Enough for many
// read calls, so that most of a batch is decoded while the rest is fetched.
constexpr std::uint64_t kCountBatchBytes = 64 << 20;

// The sums of the streams, and the batch of chunks that is counted.
class PayloadCount {
 public:
  PayloadCount(std::shared_ptr<AttachedSet> set, const std::vector<StreamId>& streams, Counted done)
      : set_(std::move(set)), done_(std::move(done)) {
    for (const StreamId stream : streams)
      sums_.push_back({stream, tfile::ExtentSum(set_->streams->slot_count(stream))});
  }

  bool is_more() const { return told_ < sums_.size(); }

  void count_batch(Reply<void> reply) {
    tell();
    batch_ = next_batch();
    if (batch_.keys.empty()) {
      tell();
      return reply({});
    }
    auto add_all = [this](Result<ItemCounts> counts) -> Result<void> {
      if (!counts) return begin_again(counts.error());
      for (std::size_t i = 0; i < batch_.keys.size(); ++i)
        add(sums_[batch_.sums[i]].items, batch_.keys[i], std::move((*counts)[i]));
      return {};
    };
    load_item_counts(set_, batch_.keys, answer_of_result<ItemCounts>(std::move(reply), std::move(add_all)));
  }

  void end(const Error& error) {
    if (told_ == 0) done_(sums_.front().stream, tl::unexpected<Error>(error));
  }

 private:
  struct Sum {
    StreamId stream;
    tfile::ExtentSum items;
  };
  struct Batch {
    std::vector<ChunkKey> keys;
    std::vector<std::size_t> sums;  // to which each belongs
  };

  Batch next_batch() {
    const tfile::StreamSet& streams = *set_->streams;
    const std::uint64_t bytes_max = std::min(kCountBatchBytes, set_->core->options.memory / 4);
    Batch batch;
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
      batch.keys.push_back(key);
      batch.sums.push_back(at_);
    }
    return batch;
  }

  // Tells of the streams that are counted to their end, the first one last: its reader may ask for the others next.
  void tell() {
    for (std::size_t i = at_; i-- > told_;) done_(sums_[i].stream, sums_[i].items.take());
    told_ = at_;
  }

  // The storage failed; if more than the first stream was asked for, perhaps not there: then it is counted alone.
  Result<void> begin_again(const Error& error) {
    if (told_ > 0 || sums_.size() == 1) return tl::unexpected<Error>(error);
    const StreamId first = sums_.front().stream;
    sums_.assign(1, {first, tfile::ExtentSum(set_->streams->slot_count(first))});
    at_ = next_ = 0;
    return {};
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
  std::vector<Sum> sums_;
  std::size_t at_ = 0, next_ = 0;  // the stream and its chunk that come next
  std::size_t told_ = 0;           // streams
  Batch batch_;
};

}  // namespace

void count_payloads(std::shared_ptr<AttachedSet> set, std::vector<StreamId> streams, Counted done,
                    std::stop_token stop) {
  auto count = std::make_shared<PayloadCount>(std::move(set), streams, std::move(done));
  auto end = [count](const Result<void>& result) {
    if (!result) count->end(result.error());
  };
  while_more([count] { return count->is_more(); }, 1,
             [count](Reply<void> reply) { count->count_batch(std::move(reply)); },
             Reply<void>(std::move(end), std::move(stop)));
}

}  // namespace tfilefs
