// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/column_sweep.h"

#include <algorithm>

namespace tfilefs {
namespace {

// Often only two neighbouring columns are wanted; a third in a row is a habit. For small columns two are enough, if
// both are read as a whole and one right after the other: a wrong guess costs less than the reads that a right one
// saves.
constexpr std::uint32_t kColumnsSure = 3, kSmallColumnsSure = 2;
constexpr std::uint64_t kSmallColumn = 64 << 10;  // stored

// A column of which more stored bytes are wanted is not loaded ahead: its own reader's read-ahead would load it as
// fast. Twice as much as is read ahead of a reader.
constexpr double kLargeColumn = 16 << 20;

// Streams that may be skipped: a counter that is no column of its own, one that was read before, or one whose request
// is on its way.
constexpr tfile::StreamId kPassedOver = 3;

// Stored bytes of small columns that may be loaded ahead on any habit, if columns are read in turn: wasting them costs
// a few milliseconds of one core. That is hundreds of small columns. Of large ones as many are loaded ahead as were
// read.
constexpr std::uint64_t kWindowFree = 4 << 20;
// After so many columns the whole table is wanted. Each window costs a read per cluster, so that windows that only
// double would make most reads small. But a window of ten thousand columns takes longer to plan than the reader needs
// to reach it.
constexpr std::uint32_t kColumnsAll = 64, kColumnsGrowth = 16;

using tfile::EntryRange;

EntryRange hull(EntryRange a, EntryRange b) { return {std::min(a.begin, b.begin), std::max(a.end, b.end)}; }
bool within(EntryRange inner, EntryRange outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }
bool overlap(EntryRange a, EntryRange b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

// At the column where the sweep is, or one of the next; or at one that was loaded for it: the columns between were not
// asked for again because the kernel has them.
bool ColumnSweep::continues(const Sweep& sweep, tfile::StreamId stream, EntryRange entries) {
  if (sweep.columns == 0) return false;
  if (stream > sweep.stream && stream < sweep.loaded_until && overlap(entries, sweep.loaded)) return true;
  return stream <= sweep.stream + 1 + kPassedOver && sweep.stream <= stream + kPassedOver;
}

// The number of columns of a sweep over many columns that passed this one for the entries before these: the next round
// has its habit from the first column on. 0 if there was none.
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
    // If the entries do not adjoin, the reader starts again.
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
  // The entries read of the earlier columns are wanted of the next ones only if they were read of this one too.
  if (!overlap(sweep.now, sweep.reach)) {
    sweep.columns = 1;
    sweep.loaded_until = 0;
    sweep.reach = sweep.now;
    return {};
  }
  const EntryRange wanted = hull(sweep.reach, sweep.now);
  const bool loaded = sweep.loaded_until > 0 && within(wanted, sweep.loaded) && sweep.stream < sweep.loaded_until;
  // The next window is due when three quarters of the last are used up; half if columns are small, since these are soon
  // read.
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
