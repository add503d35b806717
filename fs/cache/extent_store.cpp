// SPDX-License-Identifier: Apache-2.0
#include "cache/extent_store.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "cache/attached_set.h"
#include "cache/fetch_plan.h"
#include "cache/load.h"
#include "exec/step_loop.h"
#include "tfile/request.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::ItemsFrom;
using tfile::StreamId;

// A header takes a hundred bytes in a basket of tens of kilobytes. Reading through to the next header costs more than a
// read of its own, unless it is in the same page.
constexpr std::uint64_t kHeaderGapMax = 4096;
constexpr std::size_t kHeaderBatch = 4096;  // headers read by one call: about 1 MB
// The most streams whose headers are read together, once a second length was asked for: `ls -l` asks for all of them.
// It is 10 MB if so many headers are needed, because few lists share a counter.
constexpr std::size_t kStreamsTold = 16384;
// The headers that are read together of a far table: 1.5 MB, and as much in memory.
constexpr std::size_t kHeadersTold = 16384;
// Stored and decoded bytes in flight while items are counted; and no more than a quarter of the budget. Enough for many
// read calls, so that most of a batch is decoded while the rest is fetched.
constexpr std::uint64_t kCountBatchBytes = 64 << 20;

constexpr std::size_t kChunksInline = 4096;  // summed up on the asking thread: takes less than a millisecond

std::uint64_t memory_of(const Extents& extents) {
  std::uint64_t bytes = sizeof extents;
  for (const auto& first : extents.first) bytes += sizeof first + first.capacity() * sizeof first[0];
  return bytes;
}

std::optional<std::int64_t> known_of(const std::vector<std::int64_t>& lengths, std::uint32_t slot) {
  if (slot >= lengths.size() || lengths[slot] < 0) return std::nullopt;
  return lengths[slot];
}

Result<ExtentsPtr> held(Result<Extents> extents) {
  if (!extents) return tl::unexpected<Error>(std::move(extents).error());
  return std::make_shared<const Extents>(*std::move(extents));
}

tfile::SourceOrigin origin_of(const tfile::StreamSet& streams, StreamId stream) {
  if (streams.chunk_count(stream) == 0) return tfile::kLocalOrigin;
  const auto first = streams.locate({stream, 0});
  return first && first->source ? first->source->origin() : tfile::kLocalOrigin;
}

using Locators = std::vector<Result<tfile::Locator>>;
using BytesOfEach = std::vector<Result<std::vector<std::byte>>>;

// Plans the reads of what is not embedded; `bytes` gets the rest, and the errors.
std::vector<FetchRange> plan_of(const Locators& locators, BytesOfEach& bytes) {
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
  return plan_fetch(std::move(wishes), [](const tfile::Source& source) {
    const tfile::SourceTraits traits = source.traits();
    const std::uint64_t gap = traits.starts_reads ? traits.gap_free : kHeaderGapMax;
    return FetchLimits{.gap_max = gap, .gap_free = gap};
  });
}

// The bytes at each locator, or an error where they cannot be read. `of`: the stream of each, or one for all. Blocks.
BytesOfEach read_all(const Locators& locators, SetCounts& counts, std::span<const StreamId> of) {
  BytesOfEach bytes(locators.size(), std::vector<std::byte>());
  const auto plan = plan_of(locators, bytes);
  const auto parts = requests_of(plan);
  std::vector<tfile::Buffer> buffers;
  std::vector<tfile::ReadRequest> requests;
  for (const std::span<const FetchRange> part : parts) {
    tfile::ReadRequest& request = requests.emplace_back(tfile::ReadRequest{part[0].source, {}, {}, {}});
    for (const FetchRange& range : part) {
      request.ranges.push_back(range.range);
      request.into.push_back(buffers.emplace_back(range.range.size).span());
    }
  }
  const Stopwatch reading;
  tfile::read_requests(requests);
  std::vector<SetCounts::Share> shares;
  std::uint64_t calls = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const tfile::ReadRequest& request = requests[i];
    calls += request.source->traits().starts_reads ? 1 : read_calls(parts[i]);
    for (std::size_t n = 0; n < parts[i].size(); ++n) {
      for (const std::size_t id : parts[i][n].ids) {
        if (!request.result) {
          bytes[id] = tl::unexpected<Error>(request.result.error());
          continue;
        }
        const tfile::ByteRange part = locators[id]->range;
        shares.push_back({of[of.size() == 1 ? 0 : id], part.size});
        const auto place = request.into[n].subspan(part.begin - request.ranges[n].begin, part.size);
        bytes[id]->assign(place.begin(), place.end());
      }
    }
  }
  counts.add_reads(calls, planned_bytes(plan), reading.elapsed_ns(), shares);
  return bytes;
}

// Adds the items of the chunks from `begin` on, as their headers tell them.
void add_headers(const tfile::ItemCounter& counter, StreamId stream, std::size_t begin,
                 std::span<const Result<std::vector<std::byte>>> headers, tfile::ExtentSum& sum) {
  for (std::size_t i = 0; i < headers.size() && sum.is_open(); ++i) {
    if (!headers[i]) return sum.stop(headers[i].error());
    const auto counted = counter.count({stream, static_cast<std::uint32_t>(begin + i)}, *headers[i], {});
    counted ? sum.add(counted->items) : sum.stop(counted.error());
  }
}

Result<ExtentsPtr> extents_from_headers(AttachedSet& set, StreamId stream, const std::stop_token& asker) {
  const tfile::ItemCounter& counter = *set.streams->counter();
  const tfile::StreamShape shape = set.streams->shape(stream);
  tfile::ExtentSum sum(shape.slots);
  for (std::size_t begin = 0; begin < shape.chunks && sum.is_open(); begin += kHeaderBatch) {
    if (asker.stop_requested()) return given_up();
    const std::size_t end = std::min(shape.chunks, begin + kHeaderBatch);
    std::vector<Result<tfile::Locator>> locators;
    for (std::size_t i = begin; i < end; ++i)
      locators.push_back(counter.header_locator({stream, static_cast<std::uint32_t>(i)}));
    add_headers(counter, stream, begin, read_all(locators, *set.counts, {&stream, 1}), sum);
  }
  return held(sum.take());
}

// Extents that headers tell, of all of these streams: all headers are read together.
std::map<StreamId, Result<ExtentsPtr>> extents_from_all_headers(const AttachedSet& set,
                                                                std::span<const StreamId> streams) {
  const tfile::ItemCounter& counter = *set.streams->counter();
  std::vector<Result<tfile::Locator>> locators;
  std::vector<StreamId> of;
  for (const StreamId stream : streams) {
    for (std::size_t i = 0; i < set.streams->chunk_count(stream); ++i) {
      locators.push_back(counter.header_locator({stream, static_cast<std::uint32_t>(i)}));
      of.push_back(stream);
    }
  }
  const auto headers = read_all(locators, *set.counts, of);
  std::map<StreamId, Result<ExtentsPtr>> told;
  std::size_t at = 0;
  for (const StreamId stream : streams) {
    const tfile::StreamShape shape = set.streams->shape(stream);
    tfile::ExtentSum sum(shape.slots);
    add_headers(counter, stream, 0, std::span(headers).subspan(at, shape.chunks), sum);
    at += shape.chunks;
    told.emplace(stream, held(sum.take()));
  }
  return told;
}

bool is_far(const tfile::StreamSet& streams, StreamId stream) {
  if (streams.chunk_count(stream) == 0) return false;
  const auto first = streams.locate({stream, 0});
  return first && first->source && first->source->traits().starts_reads;
}

// Counts the items of a stream batch by batch. Each batch is decoded in parallel, within the budget. While half of the
// budget is free, the decoded chunks are kept for the next reader.
class PayloadCount : public std::enable_shared_from_this<PayloadCount> {
 public:
  PayloadCount(std::shared_ptr<AttachedSet> set, StreamId stream, Reply<ExtentsPtr> reply)
      : set_(std::move(set)), stream_(stream), reply_(std::move(reply)), sum_(set_->streams->slot_count(stream)) {}

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
    if (keys.empty() || !sum_.is_open()) return reply_(held(sum_.take()));
    auto counted = [self = shared_from_this(), keys](Result<ItemCounts> counts) {
      if (!counts) return self->reply_(tl::unexpected<Error>(counts.error()));
      for (std::size_t i = 0; i < keys.size(); ++i) self->add(keys[i], std::move((*counts)[i]));
      self->next();
    };
    load_item_counts(set_, keys, Reply<ItemCounts>(std::move(counted), reply_.asker()));
  }

  void add(ChunkKey key, CountedItems counted) {
    const std::vector<std::int64_t> first = sum_.end();
    counted.items ? sum_.add(*counted.items) : sum_.stop(counted.items.error());
    CacheCore& core = *set_->core;
    if (!sum_.is_open() || !counted.chunk || core.budget->used() > core.budget->size() / 2) return;
    set_->streams->counter()->place(key, *counted.chunk, first);
    AtomicReadCounts& counts = set_->counts->stream(stream_);
    counts.add(Count::chunks_decoded, 1);
    for (const auto array : counted.chunk->arrays) counts.add(Count::bytes_decoded, array.size());
    core.chunks.keep(set_->chunks, key, hold_chunk(*std::move(counted.chunk), std::move(counted.memory)));
    core.budget->changed();  // it is idle, and the requests that wait for memory have not seen it yet
  }

  const std::shared_ptr<AttachedSet> set_;
  const StreamId stream_;
  Reply<ExtentsPtr> reply_;
  tfile::ExtentSum sum_;
  std::size_t next_ = 0;
  StepLoop loop_;
};

}  // namespace

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
  const tfile::StreamShape shape = set->streams->shape(stream);
  const bool by_metadata = shape.items_from == ItemsFrom::metadata;
  if (!by_metadata && !set->streams->counter())
    return reply(tfile::fail(ErrorKind::invalid, "nothing counts its items"));
  if (shape.items_from == ItemsFrom::payloads)
    return std::make_shared<PayloadCount>(set, stream, std::move(reply))->next();
  if (by_metadata && shape.chunks <= kChunksInline) return reply(held(set->streams->extents(stream)));
  auto shared = std::make_shared<Reply<ExtentsPtr>>(std::move(reply));
  if (by_metadata)
    return set->core->exec.arena.run([set, stream, shared] { (*shared)(held(set->streams->extents(stream))); },
                                     Urgency::awaited);
  const bool taken = set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [this, set, stream, shared] {
        if (is_far(*set->streams, stream)) ask_headers(*set, stream);
        auto told = take_told(stream, set->streams->shape(stream).slots);
        (*shared)(told ? *std::move(told) : extents_from_headers(*set, stream, shared->asker()));
      },
      Urgency::awaited);
  if (!taken) (*shared)(tfile::fail(ErrorKind::busy, "the cache is closing"));
}

// When the headers of a second stream are needed, a server is asked for those of all in one round trip: a program that
// reads a single column needs no others, one that goes from column to column needs all. A branch that was not looked
// into yet is not among them.
void ExtentStore::ask_headers(const AttachedSet& set, StreamId wanted) {
  const Lock lock(asking_mutex_);
  if (asked_.contains(wanted)) return;
  if (asked_.empty()) {
    asked_.insert(wanted);
    return;
  }
  std::vector<StreamId> streams;
  std::size_t headers = 0;
  for (StreamId stream = 0; stream < set.streams->stream_count(); ++stream) {
    const tfile::StreamShape shape = set.streams->shape(stream);
    if (shape.items_from != ItemsFrom::headers || shape.slots == 0 || asked_.contains(stream)) continue;
    if (stream != wanted && headers + shape.chunks > kHeadersTold) continue;
    headers += shape.chunks;
    streams.push_back(stream);
  }
  auto told = extents_from_all_headers(set, streams);
  asked_.insert(streams.begin(), streams.end());
  const Lock inner(mutex_);
  for (auto& [stream, extents] : told)
    if (extents) told_.insert_or_assign(stream, std::move(extents));
}

// Not, if the first look into the branch has shown since then that it has other columns.
std::optional<Result<ExtentsPtr>> ExtentStore::take_told(StreamId stream, std::size_t slots) {
  const Lock lock(mutex_);
  auto told = told_.extract(stream);
  const bool fits = told && (!told.mapped() || (*told.mapped())->first.size() == slots);
  return fits ? std::optional(std::move(told.mapped())) : std::nullopt;
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
    if (const auto found = streams_.find(stream); found != streams_.end()) {
      const StreamState& state = found->second;
      if (const auto extents = state.extents.peek())
        return slot < (*extents)->first.size() ? std::optional((*extents)->length(slot)) : std::nullopt;
      if (state.lengths) return known_of(*state.lengths, slot);
    }
  }
  // Not kept: it is told as fast as it would be found, and a listing asks for ten thousand streams.
  return known_of(set.streams->lengths(stream), slot);
}

void ExtentStore::length(const std::shared_ptr<AttachedSet>& set, StreamId stream, std::uint32_t slot, bool may_decode,
                         Reply<std::optional<std::int64_t>> reply) {
  if (const auto known = known_length(*set, stream, slot)) return reply(known);
  const tfile::ItemCounter* counter = set->streams->counter();
  if (!counter || !counter->header_tells(stream) || header_seen(stream) || is_far(*set->streams, stream))
    return length_from_extents(set, stream, slot, may_decode, std::move(reply));
  auto shared = std::make_shared<Reply<std::optional<std::int64_t>>>(std::move(reply));
  set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [set, stream, slot, may_decode, counter, shared] {
        ExtentStore& extents = set->extents;
        if (extents.is_second_look()) extents.look_at_headers(*set, *counter, counter->telling_headers());
        if (const auto known = extents.known_length(*set, stream, slot)) return (*shared)(known);
        extents.look_at_headers(*set, *counter, {stream});
        if (const auto known = extents.known_length(*set, stream, slot)) return (*shared)(known);
        extents.length_from_extents(set, stream, slot, may_decode, std::move(*shared));
      },
      Urgency::awaited);
}

bool ExtentStore::is_second_look() {
  Lock lock(mutex_);
  return ++looks_ == 2;
}

// Reads the headers of those streams whose headers were not read yet. Blocks.
void ExtentStore::look_at_headers(const AttachedSet& set, const tfile::ItemCounter& counter,
                                  std::vector<StreamId> streams) {
  std::erase_if(streams, [&](StreamId stream) { return header_seen(stream); });
  if (streams.size() > kStreamsTold) streams.resize(kStreamsTold);
  std::vector<Result<tfile::Locator>> locators;
  for (const StreamId stream : streams) locators.push_back(counter.header_locator({stream, 0}));
  const auto headers = read_all(locators, *set.counts, streams);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (!headers[i]) continue;
    auto lengths = counter.lengths_by_header(streams[i], *headers[i]);
    Lock lock(mutex_);
    streams_[streams[i]].header_seen = true;
    if (lengths && *lengths) streams_[streams[i]].lengths = **std::move(lengths);
  }
}

bool ExtentStore::header_seen(StreamId stream) const {
  Lock lock(mutex_);
  return streams_[stream].header_seen;
}

void ExtentStore::length_from_extents(const std::shared_ptr<AttachedSet>& set, StreamId stream, std::uint32_t slot,
                                      bool may_decode, Reply<std::optional<std::int64_t>> reply) {
  if (!may_decode && set->streams->shape(stream).items_from == ItemsFrom::payloads) return reply(std::nullopt);
  const std::stop_token asker = reply.asker();
  auto tell = [slot, reply = std::move(reply)](Result<ExtentsPtr> extents) mutable {
    if (!extents) return reply(tl::unexpected<Error>(extents.error()));
    if (slot >= (*extents)->first.size()) return reply(tfile::fail(ErrorKind::invalid, "no such column"));
    reply((*extents)->length(slot));
  };
  want(set, stream, Reply<ExtentsPtr>(std::move(tell), asker));
}

}  // namespace tfilefs
