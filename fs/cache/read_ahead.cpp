// SPDX-License-Identifier: Apache-2.0
#include "cache/read_ahead.h"

#include <algorithm>
#include <cmath>

namespace tfilefs {
namespace {

using tfile::ChunkKey;
using tfile::EntryRange;
using tfile::StreamId;

// Decoded bytes that are loaded ahead of one sequential reader of a local file. Enough to keep both sides of the
// pipeline busy, and never more than a sixteenth of the budget, so that a few readers do not evict each other's
// windows.
constexpr std::uint64_t kAheadMax = 8 << 20;

// How much the kernel may read of a column that no program asked for: two requests on either side of one that a program
// asked for.
constexpr std::uint64_t kBesideMax = 4 << 20;

// Columns that a program has opened at a remote source and not read yet. A program that opens more may want but a
// few of them, and a slow line needs seconds for more bytes.
constexpr std::size_t kOpenedMax = 128;
constexpr std::uint64_t kOpenedBytesMax = 4 << 20;
// Further entries of these columns come along if all of it is no more. If baskets are small, each column would soon
// ask for its next ones by itself; the kernel reads half as much ahead of a single column.
constexpr std::uint64_t kOpenedAheadMax = 256 << 10;

// Columns count as used together within a part of a table. A part is a cluster, or several if a huge table has more
// clusters than the history can tell apart. A table of fewer clusters is cut into kPartsMin parts, or no habits could
// be learnt in it.
constexpr std::size_t kPartsMin = 8, kPartsMax = 4096;

std::vector<std::int64_t> part_bounds(std::span<const std::int64_t> clusters) {
  if (clusters.size() <= kPartsMin) return {};
  const std::size_t count = clusters.size() - 1, together = (count + kPartsMax - 1) / kPartsMax;
  std::vector<std::int64_t> bounds;
  for (std::size_t i = 0; i < count; i += together) bounds.push_back(clusters[i]);
  bounds.push_back(clusters.back());
  return bounds;
}

// The column of a read, in bytes.
struct PlacedColumn {
  const ColumnRead& read;
  const Extents& extents;

  std::uint32_t chunks() const { return static_cast<std::uint32_t>(extents.chunks()); }
  std::uint64_t begin_of(std::uint32_t chunk) const {
    return static_cast<std::uint64_t>(extents.first[read.slot][chunk]) * read.item_size;
  }
  std::uint64_t end() const { return begin_of(chunks()); }
  std::uint32_t chunk_at(std::uint64_t byte) const {
    return extents.chunk_of(read.slot, static_cast<std::int64_t>(byte / read.item_size));
  }
};

// Upward and downward at least half a window at a time, so that fetches are large.
std::vector<ChunkKey> chunks_above(const PlacedColumn& column, std::uint64_t ahead, std::uint64_t& loaded_until) {
  const ColumnRead& read = column.read;
  std::vector<ChunkKey> keys;
  const std::uint64_t from = std::max(loaded_until, column.begin_of(read.last_chunk));
  if (from >= column.end() || (from > read.end && from - read.end >= ahead / 2)) return keys;
  const std::uint64_t until = std::min(column.end(), read.end + ahead);
  if (until <= from) return keys;
  std::uint32_t chunk = column.chunk_at(from);
  for (; chunk < column.chunks() && column.begin_of(chunk) < until; ++chunk) keys.push_back({read.stream, chunk});
  loaded_until = column.begin_of(chunk);
  return keys;
}

std::vector<ChunkKey> chunks_below(const PlacedColumn& column, std::uint64_t ahead, std::uint64_t& loaded_until) {
  const ColumnRead& read = column.read;
  std::vector<ChunkKey> keys;
  const std::uint64_t from =
      std::min(loaded_until == 0 ? column.end() : loaded_until, column.begin_of(read.first_chunk));
  if (from == 0 || (from < read.begin && read.begin - from >= ahead / 2)) return keys;
  const std::uint64_t until = read.begin - std::min(read.begin, ahead);
  std::uint32_t chunk = column.chunk_at(from - 1) + 1;
  while (chunk > 0 && column.begin_of(chunk) > until) keys.push_back({read.stream, --chunk});
  loaded_until = column.begin_of(chunk);
  return keys;
}

// The chunks of the next reads in equal steps, at least half of these reads at a time.
std::vector<ChunkKey> chunks_in_steps(const PlacedColumn& column, std::int64_t step, std::uint64_t ahead,
                                      std::uint64_t& loaded_until) {
  const ColumnRead& read = column.read;
  std::vector<ChunkKey> keys;
  const auto here = static_cast<std::int64_t>(read.begin);
  const auto reads = static_cast<std::int64_t>(ahead / (read.end - read.begin));
  const std::int64_t loaded = (static_cast<std::int64_t>(loaded_until) - here) / step;  // in steps from here
  if (loaded > reads / 2 && loaded <= reads) return keys;
  std::uint32_t last = read.first_chunk;
  for (std::int64_t i = (loaded > 0 && loaded <= reads ? loaded : 0) + 1; i <= reads; ++i) {
    const std::int64_t at = here + i * step;
    if (at < 0 || static_cast<std::uint64_t>(at) >= column.end()) break;
    const std::uint32_t chunk = column.chunk_at(static_cast<std::uint64_t>(at));
    if (chunk != last) keys.push_back({read.stream, chunk});
    last = chunk;
    loaded_until = static_cast<std::uint64_t>(at);
  }
  return keys;
}

}  // namespace

ReadAhead::ReadAhead(const tfile::StreamSet& streams, Prefetch prefetch, std::uint64_t memory)
    : streams_(streams),
      prefetch_(prefetch),
      memory_(memory),
      part_bounds_(prefetch == Prefetch::learn ? part_bounds(streams.clusters) : std::vector<std::int64_t>()),
      parts_(static_cast<std::uint32_t>(part_bounds_.empty() ? kPartsMin : part_bounds_.size() - 1)),
      history_(parts_),
      // The decoded bytes may be several times as many, and must stay well below the budget.
      sweep_([&streams](StreamId stream) { return streams.shape(stream).stored_bytes; },
             static_cast<StreamId>(streams.stream_count()), memory / 16) {}

// Twice the bytes in flight to the source, which are the same for all chunks of a table.
std::uint64_t ReadAhead::window(ChunkKey key) {
  if (window_ > 0) return window_;
  const auto locator = streams_.locate(key);
  if (!locator) return kAheadMax;
  const tfile::SourceTraits traits = locator->source ? locator->source->traits() : tfile::SourceTraits();
  const std::uint64_t in_flight = locator->source ? traits.bytes_in_flight() : 0;
  is_remote_ = traits.starts_reads;
  ahead_min_ = std::min(2 * in_flight, memory_ / 16);
  return window_ = std::min(std::max(kAheadMax, 2 * in_flight), std::max<std::uint64_t>(memory_ / 16, 1));
}

ReadAhead::Advice ReadAhead::note(const ColumnRead& read, const Extents& extents, bool chosen) {
  Advice advice;
  if (prefetch_ == Prefetch::off) return advice;
  const EntryRange entries{streams_.chunk_entries({read.stream, read.first_chunk}).begin,
                           streams_.chunk_entries({read.stream, read.last_chunk - 1}).end};
  const std::int64_t all = all_entries(read.stream);

  const Lock lock(mutex_);
  SequenceDetector::Advice sequence = observe(read, PlacedColumn{read, extents}.end());
  advice.is_remote = is_remote_;
  // For a remote source, what is wanted next is under way with the first bytes.
  if (sequence.ahead > 0) sequence.ahead = std::max(sequence.ahead, ahead_min_);
  if (!chosen && sequence.run <= kBesideMax) sequence.ahead = 0;
  const auto first_item = static_cast<std::uint64_t>(extents.first[read.slot][read.first_chunk]);
  advice.once = sequence.continues && (sequence.step < 0 || read.begin > first_item * read.item_size);
  advice.own = own_chunks(read, extents, sequence);
  if (prefetch_ != Prefetch::learn || !chosen) return advice;

  const std::uint32_t first_part = part_of(entries.begin, all), last_part = part_of(entries.end - 1, all);
  history_.note(read.stream, first_part, last_part);
  advice.companions = history_.was_used_before(read.stream, first_part, last_part);
  advice.entries = entries;
  for (const ChunkKey key : advice.own) {
    const EntryRange more = streams_.chunk_entries(key);
    advice.entries = {std::min(advice.entries.begin, more.begin), std::max(advice.entries.end, more.end)};
  }
  advice.sweep = sweep_.observe(read.stream, entries, all);
  open_.read(read.stream);
  if (is_remote_) advice.opened = open_.take_unread(kOpenedMax);
  return advice;
}

// A reader that has read all of a column at once is not expected to go on. A table may have ten thousands of small
// columns, each of which is read so.
SequenceDetector::Advice ReadAhead::observe(const ColumnRead& read, std::uint64_t column_end) {
  const std::uint64_t ahead_max = window({read.stream, read.first_chunk});
  const std::uint64_t column = std::uint64_t{read.stream} << 32 | read.slot;
  if (read.begin == 0 && read.end == column_end && !readers_.contains(column)) return {};
  return readers_[column].observe(read.begin, read.end - read.begin, ahead_max);
}

void ReadAhead::note_open(StreamId stream) {
  const Lock lock(mutex_);
  open_.open(stream);
}

void ReadAhead::note_close(StreamId stream) {
  const Lock lock(mutex_);
  open_.close(stream);
}

std::uint32_t ReadAhead::part_of(std::int64_t entry, std::int64_t entries) const {
  if (entry <= 0 || entries <= 0) return 0;
  if (!part_bounds_.empty()) {
    const auto above = std::upper_bound(part_bounds_.begin() + 1, part_bounds_.end() - 1, entry);
    return static_cast<std::uint32_t>(above - part_bounds_.begin() - 1);
  }
  const double share = static_cast<double>(entry) / static_cast<double>(entries);
  return std::min(parts_ - 1, static_cast<std::uint32_t>(share * parts_));
}

// The end of the part that holds the entry before this one.
std::int64_t ReadAhead::part_end(std::int64_t entry, std::int64_t entries) const {
  const std::uint32_t next = part_of(entry - 1, entries) + 1;
  if (!part_bounds_.empty()) return std::min(entries, part_bounds_[next]);
  const double share = static_cast<double>(next) / static_cast<double>(parts_);
  return std::min(entries, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(entries))));
}

std::int64_t ReadAhead::all_entries(StreamId stream) const {
  const std::size_t chunks = streams_.chunk_count(stream);
  return chunks == 0 ? 0 : streams_.chunk_entries({stream, static_cast<std::uint32_t>(chunks - 1)}).end;
}

std::vector<ChunkKey> ReadAhead::own_chunks(const ColumnRead& read, const Extents& extents,
                                            const SequenceDetector::Advice& advice) {
  if (advice.ahead == 0) return {};
  const PlacedColumn column{read, extents};
  if (advice.step == 0) return chunks_above(column, advice.ahead, *advice.loaded_until);
  if (advice.step == -1) return chunks_below(column, advice.ahead, *advice.loaded_until);
  return chunks_in_steps(column, advice.step, advice.ahead, *advice.loaded_until);
}

std::vector<ChunkKey> ReadAhead::of_companions(StreamId stream, EntryRange entries) {
  std::vector<StreamId> companions;
  {
    const Lock lock(mutex_);
    // Columns that are read in step have baskets that end at different entries; the rest comes with the next group.
    const auto place = loaded_with_.find(stream);
    const EntryRange known = place == loaded_with_.end() ? EntryRange() : place->second;
    const bool begun = known.begin <= entries.begin && entries.begin < known.end;
    if (begun && std::min(known.end, entries.end) - entries.begin >= entries.size() / 2) return {};
    // A reader that comes from the entries before goes through the whole part: the rest of the part is loaded at once.
    const bool marches =
        known.size() > 0 && known.begin <= entries.begin && entries.begin <= known.end + entries.size();
    const std::int64_t all = all_entries(stream);
    if (marches) entries.end = std::max(entries.end, part_end(entries.end, all));
    companions = history_.companions(stream, part_of(entries.begin, all), part_of(entries.end - 1, all));
    for (const StreamId companion : companions) loaded_with_[companion] = entries;
    if (companions.empty()) return {};
    loaded_with_[stream] = entries;
  }
  std::vector<ChunkKey> keys;
  append(stream, entries, keys);
  for (const StreamId companion : companions) append(companion, entries, keys);
  return within_budget(std::move(keys));
}

std::vector<ChunkKey> ReadAhead::of_opened(StreamId own, std::span<const StreamId> opened, EntryRange entries) const {
  std::vector<ChunkKey> keys;
  std::uint64_t bytes = 0;
  for (const StreamId stream : opened) {
    std::vector<ChunkKey> of_stream;
    append(stream, entries, of_stream);
    bytes += stored_bytes(of_stream);
    if (bytes > kOpenedBytesMax) break;
    keys.insert(keys.end(), of_stream.begin(), of_stream.end());
  }
  const std::int64_t all = all_entries(own);
  while (entries.end < all) {
    entries.end = std::min(all, entries.end + std::max<std::int64_t>(entries.size(), 1));
    std::vector<ChunkKey> more;
    append(own, entries, more);
    for (const StreamId stream : opened) append(stream, entries, more);
    if (stored_bytes(more) > kOpenedAheadMax) break;
    keys = std::move(more);
  }
  return within_budget(std::move(keys));
}

std::uint64_t ReadAhead::stored_bytes(std::span<const ChunkKey> keys) const {
  std::uint64_t bytes = 0;
  for (const ChunkKey key : keys)
    if (const auto locator = streams_.locate(key)) bytes += std::min(locator->range.size, memory_);
  return bytes;
}

std::vector<ChunkKey> ReadAhead::of_sweep(const ColumnSweep::Advice& sweep) const {
  std::vector<ChunkKey> keys;
  for (StreamId stream = sweep.begin; stream < sweep.end; ++stream) append(stream, sweep.entries, keys);
  return within_budget(std::move(keys));
}

// The chunks of the stream that hold the entries.
void ReadAhead::append(StreamId stream, EntryRange entries, std::vector<ChunkKey>& to) const {
  const auto count = static_cast<std::uint32_t>(streams_.chunk_count(stream));
  std::uint32_t index = tfile::first_chunk_behind(streams_, stream, entries.begin);
  for (; index < count && streams_.chunk_entries({stream, index}).begin < entries.end; ++index)
    to.push_back({stream, index});
}

// As many of the chunks as take at most a quarter of the budget, stored and decoded.
std::vector<ChunkKey> ReadAhead::within_budget(std::vector<ChunkKey> keys) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto locator = streams_.locate(keys[i]);
    sum += std::min(streams_.decoded_size(keys[i]), memory_) + (locator ? std::min(locator->range.size, memory_) : 0);
    if (sum > memory_ / 4) {
      keys.resize(i);
      break;
    }
  }
  return keys;
}

}  // namespace tfilefs
