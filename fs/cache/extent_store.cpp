// SPDX-License-Identifier: Apache-2.0
#include "cache/extent_store.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "cache/attached_set.h"
#include "cache/fetch_plan.h"
#include "cache/load.h"
#include "exec/step_loop.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::ItemsFrom;
using tfile::StreamId;

// Headers are a hundred bytes in baskets of tens of kilobytes: reading through to the next one costs more than asking
// for it, unless it is in the same page.
constexpr std::uint64_t kHeaderGapMax = 4096;
constexpr std::size_t kHeaderBatch = 4096;  // headers read by one call: about 1 MB
// Streams whose headers are read once a second one was asked for: `ls -l` goes on to all. 10 MB, where a table has so
// many that no other tells of.
constexpr std::size_t kStreamsTold = 16384;
// Stored and decoded, in flight while items are counted, and no more than a quarter of the budget: many calls' worth,
// so that most of a batch is decoded while the rest is fetched.
constexpr std::uint64_t kCountBatchBytes = 64 << 20;

constexpr std::size_t kChunksInline = 4096;  // summed up on the asking thread: below a millisecond

bool lasting(const Error& error) { return error.kind == ErrorKind::damaged || error.kind == ErrorKind::unsupported; }

// Adds up items chunk by chunk; stops for good at the first error.
class Sums {
 public:
  explicit Sums(std::size_t slots) { extents_.first.assign(slots, {0}); }
  bool open() const { return !extents_.damage; }

  void add(const Result<std::vector<std::int64_t>>& items) {
    if (!open()) return;
    if (!items) return stop(items.error());
    if (items->size() != extents_.first.size())
      return stop({ErrorKind::damaged, "chunk counts other columns than its stream has", -1, 0});
    for (std::size_t slot = 0; slot < items->size(); ++slot)
      if ((*items)[slot] < 0 ||
          (*items)[slot] > std::numeric_limits<std::int64_t>::max() / 64 - extents_.first[slot].back())
        return stop({ErrorKind::damaged, "chunk claims an impossible number of items", -1, 0});
    for (std::size_t slot = 0; slot < items->size(); ++slot)
      extents_.first[slot].push_back(extents_.first[slot].back() + (*items)[slot]);
  }
  // Where the next chunk begins.
  std::vector<std::int64_t> last() const {
    std::vector<std::int64_t> last;
    for (const auto& first : extents_.first) last.push_back(first.back());
    return last;
  }
  // The error that is not damage, if that was what stopped it.
  Result<ExtentsPtr> take() {
    if (extents_.damage && !lasting(*extents_.damage)) return tl::unexpected<Error>(*extents_.damage);
    for (auto& first : extents_.first) first.shrink_to_fit();
    return std::make_shared<const Extents>(std::move(extents_));
  }

 private:
  void stop(Error error) { extents_.damage = std::move(error); }
  Extents extents_;
};

std::uint64_t memory_of(const Extents& extents) {
  std::uint64_t bytes = sizeof extents;
  for (const auto& first : extents.first) bytes += sizeof first + first.capacity() * sizeof first[0];
  return bytes;
}

std::optional<std::int64_t> known_of(const std::vector<std::int64_t>& lengths, std::uint32_t slot) {
  if (slot >= lengths.size() || lengths[slot] < 0) return std::nullopt;
  return lengths[slot];
}

Result<ExtentsPtr> extents_from_metadata(const tfile::StreamSet& streams, StreamId stream) {
  Sums sums(streams.slot_count(stream));
  for (std::size_t i = 0, n = streams.chunk_count(stream); i < n && sums.open(); ++i)
    sums.add(streams.items({stream, static_cast<std::uint32_t>(i)}, {}, {}));
  return sums.take();
}

tfile::SourceOrigin origin_of(const tfile::StreamSet& streams, StreamId stream) {
  if (streams.chunk_count(stream) == 0) return tfile::kLocalOrigin;
  const auto first = streams.header_locator({stream, 0});
  return first && first->source ? first->source->origin() : tfile::kLocalOrigin;
}

// The bytes at each locator; an error where they are not to be had. `of`: the stream of each, or of all. Blocks.
std::vector<Result<std::vector<std::byte>>> read_all(const std::vector<Result<tfile::Locator>>& locators,
                                                     SetCounts& counts, std::span<const StreamId> of) {
  std::vector<Result<std::vector<std::byte>>> bytes(locators.size(), std::vector<std::byte>());
  std::vector<FetchWish> wishes;
  for (std::size_t i = 0; i < locators.size(); ++i) {
    if (!locators[i]) {
      bytes[i] = tl::unexpected<Error>(locators[i].error());
    } else if (!locators[i]->source) {
      bytes[i]->assign(locators[i]->embedded.begin(), locators[i]->embedded.end());
    } else if (locators[i]->range.begin > locators[i]->source->size() ||
               locators[i]->range.size > locators[i]->source->size() - locators[i]->range.begin) {
      bytes[i] = tfile::fail(ErrorKind::damaged, "basket lies beyond the end of the file",
                             static_cast<std::int64_t>(locators[i]->range.begin));
    } else {
      wishes.push_back({locators[i]->source, locators[i]->range, i});
    }
  }
  const std::uint64_t in_flight = wishes.empty() ? 0 : wishes[0].source->traits().bytes_in_flight();
  const std::uint64_t gap = std::max(kHeaderGapMax, in_flight);
  const auto plan = plan_fetch(std::move(wishes), {.gap_max = gap, .gap_free = gap});
  for (std::size_t begin = 0, end; begin < plan.size(); begin = end) {
    std::vector<tfile::Buffer> buffers;
    std::vector<tfile::ByteRange> from;
    std::vector<std::span<std::byte>> into;
    const std::size_t ranges_end = begin + std::min(plan[begin].source->traits().ranges_max, plan.size() - begin);
    for (end = begin; end < ranges_end && plan[end].source == plan[begin].source; ++end) {
      from.push_back(plan[end].range);
      into.push_back(buffers.emplace_back(plan[end].range.size).span());
    }
    const Stopwatch reading;
    const Result<> done = plan[begin].source->read(from, into);
    std::uint64_t bytes_read = 0;
    std::vector<SetCounts::Share> shares;
    for (std::size_t i = begin; i < end; ++i) {
      bytes_read += plan[i].range.size;
      for (const std::size_t id : plan[i].ids) {
        if (!done) {
          bytes[id] = tl::unexpected<Error>(done.error());
          continue;
        }
        const tfile::ByteRange part = locators[id]->range;
        shares.push_back({of[of.size() == 1 ? 0 : id], part.size});
        const auto place = into[i - begin].subspan(part.begin - plan[i].range.begin, part.size);
        bytes[id]->assign(place.begin(), place.end());
      }
    }
    counts.add_reads(read_calls(std::span(plan).subspan(begin, end - begin)), bytes_read, reading.elapsed_ns(), shares);
  }
  return bytes;
}

Result<ExtentsPtr> extents_from_headers(AttachedSet& set, StreamId stream, const std::stop_token& asker) {
  const tfile::StreamSet& streams = *set.streams;
  Sums sums(streams.slot_count(stream));
  const std::size_t count = streams.chunk_count(stream);
  for (std::size_t begin = 0; begin < count && sums.open(); begin += kHeaderBatch) {
    if (asker.stop_requested()) return given_up();
    const std::size_t end = std::min(count, begin + kHeaderBatch);
    std::vector<Result<tfile::Locator>> locators;
    for (std::size_t i = begin; i < end; ++i)
      locators.push_back(streams.header_locator({stream, static_cast<std::uint32_t>(i)}));
    const auto headers = read_all(locators, *set.counts, {&stream, 1});
    for (std::size_t i = begin; i < end && sums.open(); ++i) {
      const auto& header = headers[i - begin];
      if (header)
        sums.add(streams.items({stream, static_cast<std::uint32_t>(i)}, *header, {}));
      else
        sums.add(tl::unexpected<Error>(header.error()));
    }
  }
  return sums.take();
}

// Counts the items of a stream batch by batch; each batch is decoded in parallel, within the budget. What was decoded
// is kept for who reads it next, while half of the budget is free.
class PayloadCount : public std::enable_shared_from_this<PayloadCount> {
 public:
  PayloadCount(std::shared_ptr<AttachedSet> set, StreamId stream, Reply<ExtentsPtr> reply)
      : set_(std::move(set)), stream_(stream), reply_(std::move(reply)), sums_(set_->streams->slot_count(stream)) {}

  void next() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (reply_.asker().stop_requested()) return reply_(given_up());
    const tfile::StreamSet& streams = *set_->streams;
    const std::uint64_t bytes_max = std::min(kCountBatchBytes, set_->core->options.memory / 4);
    std::vector<ChunkKey> keys;
    std::uint64_t bytes = 0;
    for (const std::size_t count = streams.chunk_count(stream_); next_ < count && bytes <= bytes_max; ++next_) {
      const ChunkKey key{stream_, static_cast<std::uint32_t>(next_)};
      const auto locator = streams.locate(key);
      bytes += std::min(streams.decoded_size(key), kCountBatchBytes) +
               (locator ? std::min(locator->range.size, kCountBatchBytes) : 0);
      keys.push_back(key);
    }
    if (keys.empty() || !sums_.open()) return reply_(sums_.take());
    auto counted = [self = shared_from_this(), keys](Result<ItemCounts> counts) {
      if (!counts) return self->reply_(tl::unexpected<Error>(counts.error()));
      for (std::size_t i = 0; i < keys.size(); ++i) self->add(keys[i], std::move((*counts)[i]));
      self->next();
    };
    load_item_counts(set_, keys, Reply<ItemCounts>(std::move(counted), reply_.asker()));
  }

  void add(ChunkKey key, CountedItems counted) {
    const std::vector<std::int64_t> first = sums_.last();
    sums_.add(counted.items);
    CacheCore& core = *set_->core;
    if (!sums_.open() || !counted.chunk || core.budget->used() > core.budget->size() / 2) return;
    set_->streams->place(key, *counted.chunk, first);
    AtomicReadCounts& counts = set_->counts->stream(stream_);
    counts.add(Count::chunks_decoded, 1);
    for (const auto array : counted.chunk->arrays) counts.add(Count::bytes_decoded, array.size());
    core.chunks.keep(set_->chunks, key, hold_chunk(*std::move(counted.chunk), std::move(counted.memory)));
    core.budget->changed();  // it lies idle, and who waits for memory has not seen it yet
  }

  const std::shared_ptr<AttachedSet> set_;
  const StreamId stream_;
  Reply<ExtentsPtr> reply_;
  Sums sums_;
  std::size_t next_ = 0;
  StepLoop loop_;
};

}  // namespace

std::uint32_t Extents::chunk_of(std::uint32_t slot, std::int64_t item) const {
  const auto& begins = first[slot];
  const auto place = std::upper_bound(begins.begin(), begins.end(), item) - begins.begin() - 1;
  return static_cast<std::uint32_t>(std::clamp<std::ptrdiff_t>(place, 0, std::ssize(begins) - 2));
}

ExtentsPtr ExtentStore::ready(StreamId stream) const {
  Lock lock(mutex_);
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second.extents.peek().value_or(nullptr);
}

void ExtentStore::want(const std::shared_ptr<AttachedSet>& set, StreamId stream, Reply<ExtentsPtr> reply) {
  Once<ExtentsPtr> extents;
  {
    const Lock lock(mutex_);
    extents = streams_[stream].extents;
  }
  extents.get(
      [&](Reply<ExtentsPtr> made) {
        const std::stop_token asker = made.asker();
        auto note = [this, set, made = std::move(made)](Result<ExtentsPtr> result) mutable {
          if (result) {
            memory_ += memory_of(**result);
            memory_here_ += memory_of(**result);
          }
          made(std::move(result));
        };
        compute(set, stream, Reply<ExtentsPtr>(std::move(note), asker));
      },
      std::move(reply));
}

void ExtentStore::compute(const std::shared_ptr<AttachedSet>& set, StreamId stream, Reply<ExtentsPtr> reply) {
  const tfile::ItemsFrom from = set->streams->items_from(stream);
  if (from == ItemsFrom::payloads) return std::make_shared<PayloadCount>(set, stream, std::move(reply))->next();
  if (from == ItemsFrom::metadata && set->streams->chunk_count(stream) <= kChunksInline)
    return reply(extents_from_metadata(*set->streams, stream));
  auto shared = std::make_shared<Reply<ExtentsPtr>>(std::move(reply));
  if (from == ItemsFrom::metadata)
    return set->core->exec.arena.run([set, stream, shared] { (*shared)(extents_from_metadata(*set->streams, stream)); },
                                     Urgency::awaited);
  const bool taken = set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [set, stream, shared] { (*shared)(extents_from_headers(*set, stream, shared->asker())); }, Urgency::awaited);
  if (!taken) (*shared)(tfile::fail(ErrorKind::busy, "the cache is closing"));
}

void ExtentStore::want_all(const std::shared_ptr<AttachedSet>& set, std::vector<StreamId> streams, Reply<bool> reply) {
  struct All {
    Reply<bool> reply;
    std::atomic<std::size_t> left;
    Mutex mutex;
    std::optional<Error> error GUARDED_BY(mutex);
    void one(const Result<ExtentsPtr>& result) {
      std::optional<Error> first_error;
      {
        Lock lock(mutex);
        if (!result && !error) error = result.error();
        first_error = error;
      }
      if (--left > 0) return;
      if (first_error) return reply(tl::unexpected<Error>(*first_error));
      reply(true);
    }
  };
  auto all = std::make_shared<All>();
  all->reply = std::move(reply);
  all->left = streams.size();
  const std::stop_token asker = all->reply.asker();
  for (const StreamId stream : streams)
    want(set, stream, Reply<ExtentsPtr>([all](Result<ExtentsPtr> result) { all->one(result); }, asker));
}

std::optional<std::int64_t> ExtentStore::known_length(const AttachedSet& set, StreamId stream,
                                                      std::uint32_t slot) const {
  {
    Lock lock(mutex_);
    StreamState& state = streams_[stream];
    if (const auto extents = state.extents.peek())
      return slot < (*extents)->first.size() ? std::optional((*extents)->length(slot)) : std::nullopt;
    if (state.quick) return known_of(*state.quick, slot);
    if (state.quick_failed) return std::nullopt;
  }
  const auto quick = set.streams->quick_lengths(stream);
  if (!quick.possible || quick.needs_header) return std::nullopt;
  const auto lengths = set.streams->lengths(stream, {});
  return lengths && *lengths ? known_of(**lengths, slot) : std::nullopt;
}

void ExtentStore::remember_quick(StreamId stream, std::optional<Lengths> lengths) {
  Lock lock(mutex_);
  StreamState& state = streams_[stream];
  state.quick_failed = !lengths;
  state.quick = std::move(lengths);
}

void ExtentStore::length(const std::shared_ptr<AttachedSet>& set, StreamId stream, std::uint32_t slot, bool may_decode,
                         Reply<std::optional<std::int64_t>> reply) {
  if (const auto known = known_length(*set, stream, slot)) return reply(known);
  const auto quick = set->streams->quick_lengths(stream);
  const bool header_helps = quick.possible && quick.needs_header && !looked_at_header(stream);
  if (!header_helps || set->streams->chunk_count(stream) == 0)
    return length_from_extents(set, stream, slot, may_decode, std::move(reply));
  auto shared = std::make_shared<Reply<std::optional<std::int64_t>>>(std::move(reply));
  set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [set, stream, slot, may_decode, shared] {
        ExtentStore& extents = set->extents;
        std::vector<StreamId> streams{stream};
        if (extents.is_second_look()) {
          streams = set->streams->telling_headers();
          if (streams.size() > kStreamsTold) streams.resize(kStreamsTold);
        }
        extents.look_at_headers(*set, std::move(streams));
        if (!extents.looked_at_header(stream) && !extents.known_length(*set, stream, slot))
          extents.look_at_headers(*set, {stream});
        if (const auto known = extents.known_length(*set, stream, slot)) return (*shared)(known);
        extents.length_from_extents(set, stream, slot, may_decode, std::move(*shared));
      },
      Urgency::awaited);
}

bool ExtentStore::is_second_look() {
  Lock lock(mutex_);
  return ++looks_ == 2;
}

// Those that nobody has looked at. Blocks.
void ExtentStore::look_at_headers(const AttachedSet& set, std::vector<StreamId> streams) {
  std::erase_if(streams, [&](StreamId stream) { return looked_at_header(stream); });
  std::vector<Result<tfile::Locator>> locators;
  for (const StreamId stream : streams) locators.push_back(set.streams->header_locator({stream, 0}));
  const auto headers = read_all(locators, *set.counts, streams);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (!headers[i]) continue;
    const auto lengths = set.streams->lengths(streams[i], *headers[i]);
    remember_quick(streams[i], lengths ? *lengths : std::nullopt);
  }
}

bool ExtentStore::looked_at_header(StreamId stream) const {
  Lock lock(mutex_);
  const StreamState& state = streams_[stream];
  return state.quick || state.quick_failed;
}

void ExtentStore::length_from_extents(const std::shared_ptr<AttachedSet>& set, StreamId stream, std::uint32_t slot,
                                      bool may_decode, Reply<std::optional<std::int64_t>> reply) {
  if (!may_decode && set->streams->items_from(stream) == ItemsFrom::payloads) return reply(std::nullopt);
  const std::stop_token asker = reply.asker();
  auto tell = [slot, reply = std::move(reply)](Result<ExtentsPtr> extents) mutable {
    if (!extents) return reply(tl::unexpected<Error>(extents.error()));
    if (slot >= (*extents)->first.size()) return reply(tfile::fail(ErrorKind::invalid, "no such column"));
    reply((*extents)->length(slot));
  };
  want(set, stream, Reply<ExtentsPtr>(std::move(tell), asker));
}

}  // namespace tfilefs
