// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/column_sweep.h"

#include <algorithm>

namespace tfilefs {
namespace {

// Two columns side by side are often all that is wanted; a third in a row is a habit. Where columns are small a second
// is taken for it that is read whole right after the one before it, which was read whole: a wrong guess costs less than
// the reads that a right one saves.
constexpr std::uint32_t kColumnsSure = 3, kSmallColumnsSure = 2;
constexpr std::uint64_t kSmallColumn = 64 << 10;  // stored

// Stored bytes of a column that is loaded no sooner by a window than by its own reader's: twice what is read ahead of
// him.
constexpr double kLargeColumn = 16 << 20;

// Streams that may be passed over: a counter that is no column of its own, one that was read before, or one whose
// request is on its way.
constexpr tfile::StreamId kPassedOver = 3;

// Stored bytes that may be loaded whatever the habit is worth, of columns read in turn: a few milliseconds of one core
// if it ends there. It holds hundreds of small columns; of large ones as many are loaded ahead as were read.
constexpr std::uint64_t kWindowFree = 4 << 20;
// After so many columns it is the whole table that is wanted: each window costs a read for every cluster, so that with
// doubling most reads would be small. But a window of ten thousand columns takes longer to plan than the reader leaves.
constexpr std::uint32_t kColumnsAll = 64, kColumnsGrowth = 16;

using tfile::EntryRange;

EntryRange hull(EntryRange a, EntryRange b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }
bool within(EntryRange inner, EntryRange outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }
bool overlap(EntryRange a, EntryRange b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

// At the column where it is or one of the next, or at one that was loaded for it: those between he did not ask for
// again since the kernel has them.
bool ColumnSweep::continues(const Sweep& sweep, tfile::StreamId stream, EntryRange entries) {
  if (sweep.columns == 0) return false;
  if (stream > sweep.stream && stream < sweep.loaded_until && overlap(entries, sweep.loaded)) return true;
  return stream <= sweep.stream + 1 + kPassedOver && sweep.stream <= stream + kPassedOver;
}

// Of a sweep over many columns that came by here for the entries before these: the next round has its habit from the
// first column on. 0 if there is none.
std::uint32_t ColumnSweep::columns_of_last_round(tfile::StreamId stream, EntryRange entries) {
  for (Sweep& sweep : sweeps_) {
    const bool passed = sweep.first <= stream && stream <= sweep.stream;
    if (sweep.columns < kColumnsAll || !passed) continue;
    if (entries.begin <= sweep.reach.begin || entries.begin > sweep.reach.end) continue;
    sweep.last_use = clock_;
    return sweep.columns;
  }
  return 0;
}

ColumnSweep::Advice ColumnSweep::observe(tfile::StreamId stream, EntryRange entries, std::int64_t all) {
  ++clock_;
  Sweep* found = nullptr;
  for (Sweep& sweep : sweeps_)
    if (continues(sweep, stream, entries) && (!found || sweep.columns > found->columns)) found = &sweep;
  const bool begins = !found;
  if (begins) {
    const std::uint32_t columns = columns_of_last_round(stream, entries);
    const auto older = [](const Sweep& a, const Sweep& b) { return a.last_use < b.last_use; };
    found = &*std::min_element(sweeps_.begin(), sweeps_.end(), older);
    *found = Sweep{};
    found->first = stream;
    found->columns = columns;
  }
  const EntryRange whole{0, all};
  const bool right_after = found->last_use + 1 == clock_;
  const bool in_step = stream == found->stream + 1 && right_after && entries == whole && found->now == whole;
  found->in_turn = begins || (found->in_turn && right_after);
  found->last_use = clock_;
  if (!begins && stream < found->stream) {  // requests of one reader may overtake each other
    found->reach = hull(found->reach, entries);
    return {};
  }
  if (!begins && found->stream == stream) {
    // Back to entries before: it starts again rather than goes on.
    const bool goes_on = entries.begin <= found->now.end && entries.end >= found->now.begin;
    found->now = goes_on ? hull(found->now, entries) : entries;
    if (!goes_on) {
      found->columns = 1;
      found->reach = entries;
    }
    return {};
  }
  found->reach = begins ? entries : hull(found->reach, found->now);
  found->now = entries;
  found->stream = stream;
  ++found->columns;
  const bool small = in_step && stored_(stream) <= kSmallColumn;
  return found->columns >= (small ? kSmallColumnsSure : kColumnsSure) ? go_on(*found, all) : Advice{};
}

ColumnSweep::Advice ColumnSweep::go_on(Sweep& sweep, std::int64_t all) {
  // What was read of the columns before is wanted of the next ones, if this one is read there too.
  if (!overlap(sweep.now, sweep.reach)) {
    sweep.columns = 1;
    sweep.loaded_until = 0;
    sweep.reach = sweep.now;
    return {};
  }
  const EntryRange wanted = hull(sweep.reach, sweep.now);
  const bool loaded = sweep.loaded_until > 0 && within(wanted, sweep.loaded) && sweep.stream < sweep.loaded_until;
  // The next window is due when most of the last is used up; of small columns, which are soon read, half.
  const tfile::StreamId length = sweep.loaded_until - sweep.loaded_from;
  const bool small = stored_(sweep.stream) <= kSmallColumn;
  if (loaded && sweep.stream - sweep.loaded_from < (small ? length / 2 : length * 3 / 4)) return {};
  const tfile::StreamId begin = loaded ? sweep.loaded_until : sweep.stream + 1;
  if (begin >= streams_) return {};
  tfile::StreamId end = begin;
  const double share = static_cast<double>(wanted.size()) / static_cast<double>(std::max<std::int64_t>(all, 1));
  for (double sum = 0; end < streams_; ++end) {
    const std::uint64_t stored = stored_(end);
    const double wanted_bytes = share * static_cast<double>(stored);
    if (wanted_bytes > kLargeColumn) break;
    sum += wanted_bytes;
    const std::uint32_t growth = sweep.columns >= kColumnsAll ? kColumnsGrowth : 1;
    const bool worth_it = end - begin < growth * sweep.columns ||
                          (sweep.in_turn && stored <= kSmallColumn && sum <= static_cast<double>(kWindowFree));
    if (!worth_it || sum > static_cast<double>(window_max_)) break;
  }
  sweep.loaded_from = sweep.stream;
  sweep.loaded_until = end;
  sweep.loaded = wanted;
  return {begin, end, wanted};
}

}  // namespace tfilefs
