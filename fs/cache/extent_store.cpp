// SPDX-License-Identifier: Apache-2.0
#include "cache/extent_store.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "cache/attached_set.h"
#include "cache/header_reads.h"
#include "cache/payload_count.h"

namespace tfilefs {
namespace {

using tfile::ItemsFrom;
using tfile::StreamId;

// The most streams whose headers are read together, once a second length was asked for: `ls -l` asks for all of them.
// It is 10 MB if so many headers are needed, because few lists share a counter.
constexpr std::size_t kStreamsTold = 16384;
// The headers that are read together of a far table: 8 MB at most, and as much in memory.
constexpr std::size_t kHeadersTold = 16384;
// Of a far table, the first length brings the first headers of so many streams, 200 KB at most with what a server
// writes around them: a fifth of a second at 8 Mb/s, and a listing waits a round trip less. Each further one brings
// sixteen times as many: a listing asks for all.
constexpr std::size_t kStreamsToldFirst = 1024;
// Of a far table, who asks for a length that only payloads tell brings so many bytes of others, as many as arrive in a
// round trip of 72 ms at 8 Mb/s. Each further length brings four times as many: a listing asks for all.
constexpr std::uint64_t kBesideBytes = 64 << 10;

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
  if (shape.items_from == ItemsFrom::payloads) return count(set, stream, std::move(reply));
  if (by_metadata && shape.chunks <= kChunksInline) return reply(held(set->streams->extents(stream)));
  auto shared = std::make_shared<Reply<ExtentsPtr>>(std::move(reply));
  if (by_metadata)
    return set->core->exec.arena.run([set, stream, shared] { (*shared)(held(set->streams->extents(stream))); },
                                     Urgency::awaited);
  const bool taken = set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [this, set, stream, shared] {
        await_look(stream);
        auto told = take_told(stream, set->streams->shape(stream).slots);
        if (told) return (*shared)(*std::move(told));
        const bool at_once = is_far(*set->streams, stream) && set->streams->chunk_count(stream) <= kHeadersTold;
        (*shared)(at_once ? extents_from_afar(*set, stream) : extents_from_headers(*set, stream, shared->asker()));
      },
      Urgency::awaited);
  if (!taken) (*shared)(tfile::fail(ErrorKind::busy, "the cache is closing"));
}

// By payloads; those of others come along from a server.
void ExtentStore::count(const std::shared_ptr<AttachedSet>& set, StreamId stream, Reply<ExtentsPtr> reply) {
  if (auto told = take_told(stream, set->streams->shape(stream).slots)) return reply(*std::move(told));
  const std::stop_token asker = reply.asker();
  auto done = [this, stream, shared = std::make_shared<Reply<ExtentsPtr>>(std::move(reply))](StreamId counted,
                                                                                             Result<Extents> extents) {
    counted == stream ? (*shared)(held(std::move(extents))) : note_told(counted, held(std::move(extents)));
  };
  count_payloads(set, counted_along(*set, stream), std::move(done), asker);
}

// A stream, and if it is one of a far table those whose payloads are counted along with it: the ones behind it first.
std::vector<StreamId> ExtentStore::counted_along(const AttachedSet& set, StreamId first) {
  std::vector<StreamId> streams{first};
  if (!is_far(*set.streams, first)) return streams;
  const Lock lock(mutex_);
  const std::uint64_t most = kBesideBytes << 2 * std::min(looks_ + counts_++, 2u);
  counted_.insert(first);
  std::uint64_t bytes = 0;
  const std::size_t count = set.streams->stream_count();
  for (std::size_t step = 1; step < count && bytes < most; ++step) {
    const auto stream = static_cast<StreamId>((first + step) % count);
    const tfile::StreamShape shape = set.streams->shape(stream);
    if (shape.items_from != ItemsFrom::payloads || shape.slots == 0 || bytes + shape.stored_bytes > most) continue;
    if (!counted_.insert(stream).second) continue;
    bytes += shape.stored_bytes;
    streams.push_back(stream);
  }
  return streams;
}

// Streams with as few headers as are read together: the first of them, and those behind it whose lengths, too, only all
// of their headers tell. A program that goes from one to the next wants them all: each time twice as many are read.
std::vector<StreamId> ExtentStore::next_by_all_headers(const AttachedSet& set, StreamId first) {
  const tfile::ItemCounter& counter = *set.streams->counter();
  std::vector<StreamId> streams{first};
  if (counter.header_tells(first)) return streams;
  const Lock lock(mutex_);
  const std::size_t most = std::max<std::size_t>(1, by_all_headers_.size());
  std::size_t headers = set.streams->chunk_count(first);
  for (std::size_t step = 1; step < set.streams->stream_count() && streams.size() < most; ++step) {
    const auto stream = static_cast<StreamId>((first + step) % set.streams->stream_count());
    const tfile::StreamShape shape = set.streams->shape(stream);
    if (shape.items_from != ItemsFrom::headers || shape.slots == 0 || counter.header_tells(stream)) continue;
    if (by_all_headers_.contains(stream) || headers + shape.chunks > kHeadersTold) continue;
    headers += shape.chunks;
    streams.push_back(stream);
  }
  by_all_headers_.insert(streams.begin(), streams.end());
  return streams;
}

// One round trip: what its first reader wants comes with the headers.
Result<ExtentsPtr> ExtentStore::extents_from_afar(const AttachedSet& set, StreamId stream) {
  const std::vector<StreamId> streams = next_by_all_headers(set, stream);
  HeaderReads reads(set);
  reads.add_with_payload(stream);
  for (const StreamId other : std::span(streams).subspan(1)) reads.add_all(other);
  reads.read();
  for (const StreamId other : std::span(streams).subspan(1)) note_told(other, reads.extents(other));
  return reads.extents(stream);
}

void ExtentStore::note_told(StreamId stream, Result<ExtentsPtr> extents) {
  if (!extents) return;
  const Lock lock(mutex_);
  told_.insert_or_assign(stream, *std::move(extents));
}

// Not, if the first look into the branch has shown since then that it has other columns.
std::optional<ExtentsPtr> ExtentStore::take_told(StreamId stream, std::size_t slots) {
  const Lock lock(mutex_);
  auto told = told_.extract(stream);
  const bool fits = told && told.mapped()->first.size() == slots;
  return fits ? std::optional(std::move(told.mapped())) : std::nullopt;
}

// Of these streams, those whose headers have to be asked for.
std::vector<StreamId> ExtentStore::without_headers(const AttachedSet& set, std::span<const StreamId> streams) const {
  std::vector<StreamId> found;
  std::size_t headers = 0;
  for (const StreamId stream : streams) {
    const tfile::StreamShape shape = set.streams->shape(stream);
    if (shape.items_from != ItemsFrom::headers || shape.slots == 0 || ready(stream)) continue;
    if (headers + shape.chunks > kHeadersTold || !is_far(*set.streams, stream) || is_told(stream)) continue;
    headers += shape.chunks;
    found.push_back(stream);
  }
  return found;
}

void ExtentStore::want_all(const std::shared_ptr<AttachedSet>& set, std::vector<StreamId> streams, Reply<bool> reply) {
  auto asked = without_headers(*set, streams);
  if (asked.size() < 2) return want_each(set, streams, std::move(reply));
  struct Asked {
    std::vector<StreamId> streams, asked;
    Reply<bool> reply;
  };
  const tfile::SourceOrigin origin = origin_of(*set->streams, asked.front());
  auto job = [this, set, all = std::make_shared<Asked>(Asked{std::move(streams), std::move(asked), std::move(reply)})] {
    HeaderReads reads(*set);
    for (const StreamId stream : all->asked) reads.add_all(stream);
    reads.read();
    for (const StreamId stream : all->asked) note_told(stream, reads.extents(stream));
    want_each(set, all->streams, std::move(all->reply));
  };
  // If the cache is closing, dropping the reply answers it.
  (void)set->core->exec.io_pools.run(origin, std::move(job), Urgency::awaited);
}

void ExtentStore::want_each(const std::shared_ptr<AttachedSet>& set, std::span<const StreamId> streams,
                            Reply<bool> reply) {
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
  if (!counter || !counter->header_tells(stream) || header_seen(stream))
    return length_from_extents(set, stream, slot, may_decode, std::move(reply));
  auto shared = std::make_shared<Reply<std::optional<std::int64_t>>>(std::move(reply));
  set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [set, stream, slot, may_decode, counter, shared] {
        ExtentStore& extents = set->extents;
        if (auto looked = extents.look(*set, *counter, stream); !looked)
          return (*shared)(tl::unexpected<Error>(std::move(looked).error()));
        if (const auto known = extents.known_length(*set, stream, slot)) return (*shared)(known);
        extents.length_from_extents(set, stream, slot, may_decode, std::move(*shared));
      },
      Urgency::awaited);
}

// At the headers that may tell the length of a stream; at the second time, of all streams.
Result<> ExtentStore::look(const AttachedSet& set, const tfile::ItemCounter& counter, StreamId stream) {
  const bool far = is_far(*set.streams, stream);
  if (far && !begin_look(stream)) return {};
  std::uint32_t looks = 0;
  {
    const Lock lock(mutex_);
    looks = ++looks_;
  }
  if (far) {
    const std::shared_ptr<void> end(nullptr, [&](void*) { end_look(stream); });
    return look_from_afar(set, counter, stream, looks);
  }
  if (looks == 2) look_at_headers(set, counter, counter.telling_headers());
  const auto lengths = set.streams->lengths(stream);
  if (std::ranges::find(lengths, -1) != lengths.end()) look_at_headers(set, counter, {stream});
  return {};
}

// Reads the headers of those streams whose headers were not read yet. Blocks.
void ExtentStore::look_at_headers(const AttachedSet& set, const tfile::ItemCounter& counter,
                                  std::vector<StreamId> streams) {
  std::erase_if(streams, [&](StreamId stream) { return header_seen(stream); });
  if (streams.empty()) return;
  if (streams.size() > kStreamsTold) streams.resize(kStreamsTold);
  HeaderReads reads(set);
  for (const StreamId stream : streams) reads.add(stream, 0, 1);
  reads.read();
  for (const StreamId stream : streams) note_header(counter, stream, reads.of(stream).front());
}

void ExtentStore::note_header(const tfile::ItemCounter& counter, StreamId stream,
                              const Result<std::vector<std::byte>>& header) {
  auto lengths = header ? counter.lengths_by_header(stream, *header) : tl::unexpected<Error>(header.error());
  const Lock lock(mutex_);
  streams_[stream].header_seen = header.has_value();
  streams_[stream].header_asked = false;
  if (lengths && *lengths) streams_[stream].lengths = **std::move(lengths);
}

// Of these streams, as many as are looked at along with the one behind which they lie; they are noted.
std::vector<StreamId> ExtentStore::looked_at_along(std::vector<StreamId> streams, StreamId behind,
                                                   std::uint32_t looks) {
  std::rotate(streams.begin(), std::ranges::upper_bound(streams, behind), streams.end());
  const std::size_t most = std::min<std::size_t>(kStreamsTold, kStreamsToldFirst << 4 * std::min(looks - 1, 4u));
  const Lock lock(mutex_);
  std::erase_if(streams, [&](StreamId stream) REQUIRES(mutex_) {
    const StreamState& state = streams_[stream];
    return stream == behind || state.header_seen || state.header_asked;
  });
  if (streams.size() > most) streams.resize(most);
  for (const StreamId stream : streams) streams_[stream].header_asked = true;
  return streams;
}

// A program that was told a name before its size is known asks for the size, and reads, while a look is under way that
// brings both. begin_look() waits for it, and is false if it has seen the header.
bool ExtentStore::begin_look(StreamId stream) {
  const Lock lock(mutex_);
  while (under_look_.contains(stream)) looked_.wait(mutex_);
  return !streams_[stream].header_seen && under_look_.insert(stream).second;
}

void ExtentStore::end_look(StreamId stream) {
  const Lock lock(mutex_);
  under_look_.erase(stream);
  looked_.notify_all();
}

void ExtentStore::await_look(StreamId stream) {
  const Lock lock(mutex_);
  while (under_look_.contains(stream)) looked_.wait(mutex_);
}

// Who asks for the length of a list may read it next: all of its headers come, and its first bytes. Or all lists are
// gone through: the first headers of others come along, which tell the lengths of all lists that have the same counter.
// Error: that of the server.
Result<> ExtentStore::look_from_afar(const AttachedSet& set, const tfile::ItemCounter& counter, StreamId stream,
                                     std::uint32_t looks) {
  const std::vector<StreamId> others = looked_at_along(counter.telling_headers(), stream, looks);
  const bool by_headers =
      set.streams->shape(stream).items_from == ItemsFrom::headers && set.streams->chunk_count(stream) <= kHeadersTold;
  HeaderReads reads(set);
  if (by_headers)
    reads.add_with_payload(stream);
  else
    reads.add(stream, 0, 1);
  for (const StreamId other : others) reads.add(other, 0, 1);
  reads.read();
  if (by_headers) note_told(stream, reads.extents(stream));
  for (const StreamId other : others) note_header(counter, other, reads.of(other).front());
  const auto& header = reads.of(stream).front();
  note_header(counter, stream, header);
  // A server that did not answer is not asked for the same once more.
  if (!header && !is_lasting(header.error())) return tl::unexpected<Error>(header.error());
  return {};
}

bool ExtentStore::is_told(StreamId stream) const {
  const Lock lock(mutex_);
  return told_.contains(stream);
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
