// SPDX-License-Identifier: Apache-2.0
#include "cache/extent_store.h"

#include <algorithm>
#include <utility>

#include "cache/attached_set.h"
#include "cache/header_reads.h"
#include "cache/payload_count.h"
#include "exec/answering.h"
#include "exec/first_error.h"
#include "exec/when_all.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

using tfile::ItemsFrom;
using tfile::StreamId;

// The most headers that are read together: 8 MB, and as much in memory. Those of a list with more baskets are read when
// its own length is asked for.
constexpr std::size_t kHeadersTold = 16384;
// A second length brings so many headers of others: some milliseconds on a disk. Of a remote table the first length
// does, 200 KB at most with what a server writes around them: a fifth of a second at 8 Mb/s, and a listing waits a
// round trip less. Each further one brings sixteen times as many: a listing asks for all.
constexpr std::size_t kHeadersToldFirst = 1024;
// For remote tables, a length that needs payloads also fetches this many bytes of other payloads: as many as arrive in
// one round trip of 72 ms at 8 Mb/s. Each further length fetches four times as many, since a listing asks for all.
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
        auto count_memory = [this, set](ExtentsPtr computed) {
          memory_ += memory_of(*computed);
          memory_here_ += memory_of(*computed);
          return computed;
        };
        compute(set, stream, answer_with<ExtentsPtr>(std::move(made), std::move(count_memory)));
      },
      std::move(reply));
}

void ExtentStore::compute(const std::shared_ptr<AttachedSet>& set, StreamId stream, Reply<ExtentsPtr> reply) {
  const tfile::StreamShape shape = set->streams->shape(stream);
  const bool by_metadata = shape.items_from == ItemsFrom::metadata;
  if (!by_metadata && !set->streams->counter())
    return reply(tfile::fail(ErrorKind::invalid, "its items are not counted by any column"));
  if (shape.items_from == ItemsFrom::payloads) return count(set, stream, std::move(reply));
  if (by_metadata && shape.chunks <= kChunksInline) return reply(held(set->streams->extents(stream)));
  auto shared = std::make_shared<Reply<ExtentsPtr>>(std::move(reply));
  if (by_metadata) {
    set->core->exec.coders.run([set, stream, shared] { (*shared)(held(set->streams->extents(stream))); },
                               Urgency::awaited);
    return;
  }
  const bool taken = set->core->exec.io_pools.run(
      origin_of(*set->streams, stream),
      [this, set, stream, shared] {
        await_look(stream);
        auto done = take_told(stream, set->streams->shape(stream).slots);
        if (done) return (*shared)(*std::move(done));
        const bool at_once = is_remote(*set->streams, stream) && set->streams->chunk_count(stream) <= kHeadersTold;
        (*shared)(at_once ? extents_of_remote(*set, stream) : extents_from_headers(*set, stream, shared->stop_token()));
      },
      Urgency::awaited);
  if (!taken) (*shared)(no_thread());
}

// By payloads; those of others come along from a server.
void ExtentStore::count(const std::shared_ptr<AttachedSet>& set, StreamId stream, Reply<ExtentsPtr> reply) {
  if (auto told = take_told(stream, set->streams->shape(stream).slots)) return reply(*std::move(told));
  const std::stop_token stop = reply.stop_token();
  auto done = [this, stream, shared = std::make_shared<Reply<ExtentsPtr>>(std::move(reply))](StreamId counted,
                                                                                             Result<Extents> extents) {
    counted == stream ? (*shared)(held(std::move(extents))) : note_told(counted, held(std::move(extents)));
  };
  count_payloads(set, counted_along(*set, stream), std::move(done), stop);
}

// A stream, and if it is one of a remote table those whose payloads are counted along with it: the ones behind it
// first.
std::vector<StreamId> ExtentStore::counted_along(const AttachedSet& set, StreamId first) {
  std::vector<StreamId> streams{first};
  if (!is_remote(*set.streams, first)) return streams;
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

// One round trip: what its first reader wants comes with the headers.
Result<ExtentsPtr> ExtentStore::extents_of_remote(const AttachedSet& set, StreamId stream) {
  HeaderReads reads(set);
  reads.add_with_payload(stream);
  reads.read();
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
  auto reply = told_.extract(stream);
  const bool fits = reply && reply.mapped()->first.size() == slots;
  return fits ? std::optional(std::move(reply.mapped())) : std::nullopt;
}

// Those of the streams whose headers have to be asked for.
std::vector<StreamId> ExtentStore::without_headers(const AttachedSet& set, std::span<const StreamId> streams) const {
  std::vector<StreamId> found;
  std::size_t headers = 0;
  for (const StreamId stream : streams) {
    const tfile::StreamShape shape = set.streams->shape(stream);
    if (shape.items_from != ItemsFrom::headers || shape.slots == 0 || ready(stream)) continue;
    if (headers + shape.chunks > kHeadersTold || !is_remote(*set.streams, stream) || is_told(stream)) continue;
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
  const tfile::ServerId origin = origin_of(*set->streams, asked.front());
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
  const std::size_t count = streams.size();
  auto failure = std::make_shared<FirstError>();  // the others are wanted all the same
  auto want_one = [this, set, all = std::vector(streams.begin(), streams.end()), failure](std::size_t i,
                                                                                          Reply<void> answer) {
    auto note = [failure](const Result<ExtentsPtr>& extents, Reply<void> done) {
      if (!extents) failure->note(extents.error());
      done({});
    };
    want(set, all[i], on_behalf_of<ExtentsPtr>(std::move(answer), std::move(note)));
  };
  auto tell = [failure]() -> Result<bool> {
    if (failure->is_there()) return tl::unexpected<Error>(failure->get());
    return true;
  };
  when_all(count, count, std::move(want_one), answer_with<void>(std::move(reply), std::move(tell)));
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
  if (!set->streams->counter() || set->streams->shape(stream).items_from != ItemsFrom::headers)
    return length_from_extents(set, stream, slot, may_decode, std::move(reply));
  auto look_it_up = [set, stream, stop = reply.stop_token()] { return set->extents.look(*set, stream, stop); };
  auto tell = [set, stream, slot, may_decode](Reply<std::optional<std::int64_t>> done) {
    if (const auto known = set->extents.known_length(*set, stream, slot)) return done(known);
    set->extents.length_from_extents(set, stream, slot, may_decode, std::move(done));
  };
  set->core->exec.io_pools.run(origin_of(*set->streams, stream),
                               answering(std::move(look_it_up), value_for<void>(std::move(reply), std::move(tell))),
                               Urgency::awaited);
}

// At the headers that tell the length of a stream, and at those of others. Error: that of a server.
Result<> ExtentStore::look(const AttachedSet& set, StreamId stream, const std::stop_token& stop) {
  const bool remote = is_remote(*set.streams, stream);
  if (remote && !begin_look(stream)) return {};
  std::uint32_t looks = 0;
  {
    const Lock lock(mutex_);
    looks = looks_++;
  }
  if (remote) {
    const std::shared_ptr<void> end(nullptr, [&](void*) { end_look(stream); });
    return look_at_remote(set, stream, looks);
  }
  // A reader that asks for a first length reads that column next: it gets its extents.
  if (looks > 0) look_nearby(set, stream, looks - 1, stop);
  return {};
}

// Counts the items of this stream and of those behind it, so many at a time as have kHeaderBatch headers. Blocks.
void ExtentStore::look_nearby(const AttachedSet& set, StreamId stream, std::uint32_t looks,
                              const std::stop_token& stop) {
  const std::vector<StreamId> streams = looked_at_along(set, stream, looks);
  for (std::size_t begin = 0, end = 0; begin < streams.size(); begin = end) {
    HeaderReads reads(set);
    for (std::size_t headers = 0; end < streams.size() && headers < kHeaderBatch && !stop.stop_requested(); ++end) {
      reads.add_all(streams[end]);
      headers += set.streams->chunk_count(streams[end]);
    }
    reads.read();
    for (const StreamId each : std::span(streams).subspan(begin, end - begin)) note_lengths(each, reads.extents(each));
    if (!stop.stop_requested()) continue;
    const Lock lock(mutex_);
    for (; end < streams.size(); ++end) streams_[streams[end]].headers_asked = false;
  }
}

void ExtentStore::note_lengths(StreamId stream, const Result<ExtentsPtr>& extents) {
  const Lock lock(mutex_);
  streams_[stream].headers_asked = false;
  if (!extents) return;
  Lengths lengths;
  for (std::uint32_t slot = 0; slot < (*extents)->first.size(); ++slot) lengths.push_back((*extents)->length(slot));
  streams_[stream].lengths = std::move(lengths);
}

// The streams whose headers tell of all others, from `from` on: as many as have headers that come along with the look.
// They are noted.
std::vector<StreamId> ExtentStore::looked_at_along(const AttachedSet& set, StreamId from, std::uint32_t looks) {
  std::vector<StreamId> streams = set.streams->counter()->telling_streams();
  std::rotate(streams.begin(), std::ranges::lower_bound(streams, from), streams.end());
  const std::size_t most = std::min<std::size_t>(kHeadersTold, kHeadersToldFirst << 4 * std::min(looks, 4u));
  std::size_t headers = 0;
  const Lock lock(mutex_);
  std::erase_if(streams, [&](StreamId stream) REQUIRES(mutex_) {
    StreamState& state = streams_[stream];
    const std::size_t own = set.streams->chunk_count(stream);
    if (state.lengths || state.headers_asked || headers + own > most) return true;
    headers += own;
    state.headers_asked = true;
    return false;
  });
  return streams;
}

// A program that was told a name before its size is known asks for the size, and reads, while a look is under way that
// brings both. begin_look() waits for it, and is false if it has brought the size.
bool ExtentStore::begin_look(StreamId stream) {
  const Lock lock(mutex_);
  while (under_look_.contains(stream)) looked_.wait(mutex_);
  return !streams_[stream].lengths && under_look_.insert(stream).second;
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

// If the length of a list is asked for, it may be read next: all of its headers come, and its first bytes. Or all are
// gone through: the headers of others come along, of which one tells the lengths of all lists that have the same
// counter.
Result<> ExtentStore::look_at_remote(const AttachedSet& set, StreamId stream, std::uint32_t looks) {
  std::vector<StreamId> others = looked_at_along(set, stream, looks);
  std::erase(others, stream);
  HeaderReads reads(set);
  const bool with_own = set.streams->chunk_count(stream) <= kHeadersTold;
  if (with_own) reads.add_with_payload(stream);
  for (const StreamId other : others) reads.add_all(other);
  reads.read();
  for (const StreamId other : others) note_lengths(other, reads.extents(other));
  if (!with_own) return {};
  auto extents = reads.extents(stream);
  note_lengths(stream, extents);
  // A server that did not answer is not asked for the same once more.
  if (!extents) return tl::unexpected<Error>(extents.error());
  note_told(stream, std::move(extents));
  return {};
}

bool ExtentStore::is_told(StreamId stream) const {
  const Lock lock(mutex_);
  return told_.contains(stream);
}

void ExtentStore::length_from_extents(const std::shared_ptr<AttachedSet>& set, StreamId stream, std::uint32_t slot,
                                      bool may_decode, Reply<std::optional<std::int64_t>> reply) {
  if (!may_decode && set->streams->shape(stream).items_from == ItemsFrom::payloads) return reply(std::nullopt);
  auto tell = [slot](const ExtentsPtr& extents) -> Result<std::optional<std::int64_t>> {
    if (slot >= extents->first.size()) return tfile::fail(ErrorKind::invalid, "no such column");
    return extents->length(slot);
  };
  want(set, stream, answer_with<ExtentsPtr>(std::move(reply), std::move(tell)));
}

}  // namespace tfilefs
