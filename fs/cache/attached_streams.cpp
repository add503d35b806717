// SPDX-License-Identifier: Apache-2.0
#include "cache/attached_streams.h"

#include <algorithm>
#include <cstring>

#include "cache/header_reads.h"
#include "cache/load.h"
#include "damage.h"
#include "exec/when_all.h"
#include "on_behalf.h"

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::StreamId;

// Beyond this many pieces a copy is cheaper than the kernel's work per piece (it pins their pages one by one).
constexpr std::size_t kPiecesMax = 64;

std::uint32_t chunk_end(const std::vector<std::int64_t>& first, std::int64_t item_end) {
  const auto place = std::lower_bound(first.begin(), first.end(), item_end);
  return static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(place - first.begin(), std::ssize(first) - 1));
}

// The bytes of the column that a read wants of one chunk.
struct ChunkPart {
  std::uint64_t chunk_begin = 0, chunk_end = 0;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end > begin ? end - begin : 0; }
};

ChunkPart part_of(const ColumnRead& read, const Extents& extents, std::uint32_t index) {
  const auto& first = extents.first[read.slot];
  ChunkPart part;
  part.chunk_begin = static_cast<std::uint64_t>(first[index]) * read.item_size;
  part.chunk_end = static_cast<std::uint64_t>(first[index + 1]) * read.item_size;
  part.begin = std::max(part.chunk_begin, read.begin);
  part.end = std::min(part.chunk_end, read.end);
  return part;
}

Result<Slices> slice(const ColumnRead& read, const Extents& extents, std::vector<ChunkPtr> chunks) {
  Slices slices;
  slices.pieces.reserve(chunks.size());
  slices.pins.reserve(chunks.size());
  for (std::uint32_t index = read.first_chunk; index < read.last_chunk; ++index) {
    ChunkPtr& chunk = chunks[index - read.first_chunk];
    const ChunkPart part = part_of(read, extents, index);
    const auto array = chunk->arrays[read.slot];
    if (array.size() != part.chunk_end - part.chunk_begin)
      return wrong_size(index, read.slot, array.size(), std::to_string(part.chunk_end - part.chunk_begin) + " bytes");
    if (part.size() == 0) continue;
    slices.add(array.subspan(part.begin - part.chunk_begin, part.size()), std::move(chunk));
  }
  return slices;
}

Slices joined(const Slices& slices) {
  auto buffer = std::make_shared<tfile::Buffer>(slices.size());
  std::byte* to = buffer->data();
  for (const auto piece : slices.pieces) {
    std::memcpy(to, piece.data(), piece.size());
    to += piece.size();
  }
  return one_slice(std::move(buffer));
}

void hand_over(AttachedSet& set, const ColumnRead& read, const Extents& extents) {
  std::vector<std::uint64_t> bytes;
  bytes.reserve(read.last_chunk - read.first_chunk);
  for (std::uint32_t index = read.first_chunk; index < read.last_chunk; ++index)
    bytes.push_back(part_of(read, extents, index).size());
  set.core->chunks.hand_over(set.chunks, {read.stream, read.first_chunk}, bytes, is_remote(*set.streams, read.stream));
}

void answer(AttachedSet& set, const ColumnRead& read, ReadUse use, std::vector<ChunkPtr> chunks, Reply<Slices>& reply) {
  const ExtentsPtr extents = set.extents.ready(read.stream);
  auto slices = slice(read, *extents, std::move(chunks));
  if (slices && use.handed_over) hand_over(set, read, *extents);
  if (use.passing)
    set.core->chunks.pass(set.chunks, {read.stream, read.first_chunk}, read.last_chunk - read.first_chunk,
                          is_remote(*set.streams, read.stream));
  if (slices && slices->pieces.size() > kPiecesMax) return reply(joined(*slices));
  reply(std::move(slices));
}

// A read whose chunks do not fit into memory together. It loads one after the other, and copies each before it asks for
// the next.
void read_by_chunk(const std::shared_ptr<AttachedSet>& set, const ColumnRead& read, Reply<Slices> reply) {
  struct Filled {
    std::shared_ptr<tfile::Buffer> bytes;
    std::size_t size = 0;
  };
  auto step = [set, read, extents = set->extents.ready(read.stream)](std::size_t i, Filled& into, Reply<void> done) {
    ColumnRead one = read;
    one.first_chunk = read.first_chunk + static_cast<std::uint32_t>(i);
    one.last_chunk = one.first_chunk + 1;
    auto take = [one, extents, &into](std::vector<ChunkPtr> chunks) -> Result<void> {
      TRY(const Slices part, slice(one, *extents, std::move(chunks)));
      for (const auto piece : part.pieces) {
        std::memcpy(into.bytes->data() + into.size, piece.data(), piece.size());
        into.size += piece.size();
      }
      return {};
    };
    load_chunks(set, {{one.stream, one.first_chunk}},
                answer_with<std::vector<ChunkPtr>>(std::move(done), std::move(take)));
  };
  auto take_all = [](Filled filled) { return one_slice(std::move(filled.bytes)); };
  when_all(read.last_chunk - read.first_chunk, 1, Filled{std::make_shared<tfile::Buffer>(read.end - read.begin)},
           std::move(step), answer_with<Filled>(std::move(reply), std::move(take_all)));
}

using Set = std::shared_ptr<AttachedSet>;

void load_ahead(const Set&, const ColumnRead&, bool missed, ReadAhead::Advice, std::shared_ptr<LoadPlan> of_read);
bool wants_others(const ReadAhead::Advice&, bool missed);
void read_missing(const Set&, const ColumnRead&, ReadUse, ReadAhead::Advice, Reply<Slices>);

void read_in(const Set& set, const Extents& extents, StreamId stream, std::uint32_t slot, std::size_t item_size,
             std::uint64_t offset, std::size_t size, ReadUse use, Reply<Slices> reply) {
  if (slot >= extents.first.size() || item_size == 0) return reply(tfile::fail(ErrorKind::invalid, "no such column"));
  const auto& first = extents.first[slot];
  const std::uint64_t column_end = static_cast<std::uint64_t>(first.back()) * item_size;
  const std::uint64_t end = size > column_end || offset > column_end - size ? column_end : offset + size;
  if (extents.damage && (offset >= column_end || size > column_end - offset) && size > 0)
    return reply(tl::unexpected<Error>(*extents.damage));
  if (offset >= end) return reply(Slices());

  ColumnRead read{stream, slot, item_size, offset, end, 0, 0};
  read.first_chunk = extents.chunk_of(slot, static_cast<std::int64_t>(offset / item_size));
  read.last_chunk = chunk_end(first, static_cast<std::int64_t>((end + item_size - 1) / item_size));

  ReadAhead::Advice ahead = set->ahead.note(read, extents, use.chosen);
  AtomicReadCounts& counts = set->counts->stream(stream);
  counts.add(Count::bytes_asked, end - offset);
  std::vector<ChunkPtr> chunks;
  if (set->core->chunks.pin(set->chunks, stream, read.first_chunk, read.last_chunk, !ahead.once, chunks)) {
    counts.add(Count::hits, 1);
    load_ahead(set, read, false, std::move(ahead), nullptr);
    return answer(*set, read, use, std::move(chunks), reply);
  }
  chunks.clear();
  counts.add(Count::misses, 1);
  read_missing(set, read, use, std::move(ahead), std::move(reply));
}

// Reads chunks that are not in the cache.
void read_missing(const Set& set, const ColumnRead& read, ReadUse use, ReadAhead::Advice ahead, Reply<Slices> reply) {
  using Chunks = std::vector<ChunkPtr>;
  auto finish = [set, read, use, waiting = Stopwatch()](Result<Chunks> chunks, Reply<Slices> done) mutable {
    set->counts->stream(read.stream).add(Count::wait_ns, waiting.elapsed_ns());
    const bool is_in_parts = read.last_chunk - read.first_chunk > 1 && read.end - read.begin <= Budget::kBeyondMax;
    if (!chunks && is_refusal(chunks.error()) && is_in_parts) return read_by_chunk(set, read, std::move(done));
    if (!chunks) return done(tl::unexpected<Error>(chunks.error()));
    answer(*set, read, use, *std::move(chunks), done);
  };
  // Others may wait for the chunks, too.
  Reply<Chunks> loaded = uninterrupted(on_behalf_of<Chunks>(std::move(reply), std::move(finish)));
  std::vector<ChunkKey> keys;
  for (std::uint32_t index = read.first_chunk; index < read.last_chunk; ++index) keys.push_back({read.stream, index});
  const tfile::EntryRange entries{set->streams->chunk_entries(keys.front()).begin,
                                  set->streams->chunk_entries(keys.back()).end};
  std::shared_ptr<LoadPlan> plan = set->plans.covering(read.stream, entries), of_read;
  // A server is best asked at once for what is wanted now and what will be.
  if (!plan && ahead.is_remote && wants_others(ahead, true))
    plan = of_read = set->plans.begin(read.stream, read.stream + 1, entries);
  auto load = [set, keys](const Result<bool>&, Reply<Chunks> done) { load_chunks(set, keys, std::move(done)); };
  if (plan)
    plan->wait(on_behalf_of<bool>(std::move(loaded), std::move(load)));
  else
    load_chunks(set, keys, std::move(loaded));
  plan.reset();
  load_ahead(set, read, true, std::move(ahead), std::move(of_read));
}

// Chunks that the kernel has are not loaded on a guess. But a miss shows that the kernel no longer has this column, so
// its own next chunks are loaded.
void load_guessed(const Set& set, std::vector<ChunkKey> others, const std::vector<ChunkKey>& own, bool missed) {
  if (!missed) others.insert(others.begin(), own.begin(), own.end());
  if (!others.empty()) set->core->chunks.drop_handed(set->chunks, others);
  if (missed) others.insert(others.end(), own.begin(), own.end());
  if (!others.empty()) load_chunks_ahead(set, std::move(others));
}

bool wants_others(const ReadAhead::Advice& ahead, bool missed) {
  const bool companions = ahead.companions && (missed || !ahead.own.empty());
  return companions || ahead.sweep.begin < ahead.sweep.end || !ahead.opened.empty();
}

// The chunks of other columns that are loaded along with a column.
std::vector<ChunkKey> chunks_of_others(AttachedSet& set, StreamId stream, const ReadAhead::Advice& ahead, bool missed) {
  std::vector<ChunkKey> others;
  const auto add = [&](const std::vector<ChunkKey>& keys) { others.insert(others.end(), keys.begin(), keys.end()); };
  if (ahead.companions && (missed || !ahead.own.empty())) add(set.ahead.of_companions(stream, ahead.entries));
  if (ahead.sweep.begin < ahead.sweep.end) add(set.ahead.of_sweep(ahead.sweep));
  if (!ahead.opened.empty()) add(set.ahead.of_opened(stream, ahead.opened, ahead.entries));
  return others;
}

// Whether one request may bring the chunks of a read and these others, as the read does not wait much longer: parts of
// an answer are told as they arrive, or all of it arrives within two round trips.
bool may_come_together(const tfile::StreamSet& streams, ChunkKey read, std::span<const ChunkKey> others) {
  const auto own = streams.locate(read);
  if (!own || !own->source) return false;
  const tfile::SourceTraits traits = own->source->traits();
  if (traits.answer_bytes > 0 && traits.answer_bytes < traits.request_max) return true;
  const std::uint64_t most = 2 * traits.bytes_in_flight();
  std::uint64_t bytes = 0;
  for (const ChunkKey key : others) {
    const auto place = streams.locate(key);
    if (place && place->range.size > most - bytes) return false;
    if (place) bytes += place->range.size;
  }
  return true;
}

// There may be thousands of other columns. Planning them takes longer than the request, which does not wait for it;
// unless a server is asked, by the same request if that is best. `of_read`: the read waits for its end.
void load_ahead(const Set& set, const ColumnRead& read, bool missed, ReadAhead::Advice ahead,
                std::shared_ptr<LoadPlan> of_read) {
  if (!wants_others(ahead, missed)) return load_guessed(set, {}, ahead.own, missed);
  const bool sweeps = ahead.sweep.begin < ahead.sweep.end;
  auto plan = sweeps ? set->plans.begin(ahead.sweep.begin, ahead.sweep.end, ahead.sweep.entries) : nullptr;
  auto job = [set, read, missed, ahead = std::move(ahead), plan = std::move(plan),
              of_read = std::move(of_read)]() mutable {
    std::vector<ChunkKey> others = chunks_of_others(*set, read.stream, ahead, missed), own = std::move(ahead.own);
    if (of_read && may_come_together(*set->streams, {read.stream, read.first_chunk}, others))
      for (std::uint32_t index = read.first_chunk; index < read.last_chunk; ++index)
        own.push_back({read.stream, index});
    else
      of_read.reset();
    load_guessed(set, std::move(others), own, missed);
    of_read.reset();
    plan.reset();
  };
  // The job reads nothing, and the loads that it plans are prefetch. The plans end with it.
  set->core->exec.planner.run(std::move(job), Urgency::awaited);
}

}  // namespace

const tfile::StreamSet& AttachedStreams::streams() const { return *set_->streams; }

void AttachedStreams::note_open(StreamId stream) { set_->ahead.note_open(stream); }
void AttachedStreams::note_close(StreamId stream) { set_->ahead.note_close(stream); }

void AttachedStreams::length(StreamId stream, std::uint32_t slot, Reply<std::int64_t> reply) {
  auto tell = [](std::optional<std::int64_t> length) { return *length; };
  set_->extents.length(set_, stream, slot, true, answer_with<std::optional<std::int64_t>>(std::move(reply), tell));
}

void AttachedStreams::cheap_length(StreamId stream, std::uint32_t slot, Reply<std::optional<std::int64_t>> reply) {
  set_->extents.length(set_, stream, slot, false, std::move(reply));
}

std::optional<std::int64_t> AttachedStreams::known_length(StreamId stream, std::uint32_t slot) const {
  return set_->extents.known_length(*set_, stream, slot);
}

void AttachedStreams::run_view_job(std::function<void()> job) {
  set_->core->exec.view_workers.run(std::move(job), Urgency::awaited);
}

PieceCache& AttachedStreams::pieces() const { return set_->core->pieces; }

void AttachedStreams::read(StreamId stream, std::uint32_t slot, std::size_t item_size, std::uint64_t offset,
                           std::size_t size, ReadUse use, Reply<Slices> reply) {
  if (const ExtentsPtr extents = set_->extents.ready(stream))
    return read_in(set_, *extents, stream, slot, item_size, offset, size, use, std::move(reply));
  auto read = [set = set_, stream, slot, item_size, offset, size, use](const ExtentsPtr& extents, Reply<Slices> done) {
    read_in(set, *extents, stream, slot, item_size, offset, size, use, std::move(done));
  };
  set_->extents.want(set_, stream, value_for<ExtentsPtr>(std::move(reply), std::move(read)));
}

}  // namespace tfilefs
