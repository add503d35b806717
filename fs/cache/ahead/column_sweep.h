// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "tfile/node.h"
#include "tfile/range.h"

namespace tfilefs {

// Notices readers that go through the streams of a table in order, each stream for the same entries: `cp -r`, `tar`, an
// analysis that wants all of every hundredth entry, or one that goes through the table some entries of each column at a
// time, round after round. A few such readers can be followed at once. Pure.
class ColumnSweep {
 public:
  struct Advice {
    tfile::StreamId begin = 0, end = 0;  // streams that will be wanted soon; none if equal
    tfile::EntryRange entries;           // of each
  };

  // `stored`: the size of a stream in the file; `streams`: how many there are; `window_max`: stored bytes that may be
  // loaded ahead.
  ColumnSweep(std::function<std::uint64_t(tfile::StreamId)> stored, tfile::StreamId streams, std::uint64_t window_max)
      : stored_(std::move(stored)), streams_(streams), window_max_(window_max) {}

  // A reader asked for these entries of a stream that has `all` of them.
  Advice observe(tfile::StreamId stream, tfile::EntryRange entries, std::int64_t all);

 private:
  struct Sweep {
    tfile::StreamId first = 0;   // where it began
    tfile::StreamId stream = 0;  // where it is
    tfile::EntryRange now;       // what was read of it, without a break
    tfile::EntryRange reach;     // and of all before: columns of wide items are read for fewer entries at a time
    std::uint32_t columns = 0;   // how many it has read; 0: this place is free
    bool in_turn = true;         // each read right after the one before; random readers seldom do that
    tfile::StreamId loaded_from = 0, loaded_until = 0;
    tfile::EntryRange loaded;  // entries that were loaded of those streams
    std::uint64_t last_use = 0;
  };
  static bool continues(const Sweep&, tfile::StreamId, tfile::EntryRange);
  std::uint32_t columns_of_last_round(tfile::StreamId, tfile::EntryRange);
  Advice go_on(Sweep&, std::int64_t all);

  const std::function<std::uint64_t(tfile::StreamId)> stored_;
  const tfile::StreamId streams_;
  const std::uint64_t window_max_;
  std::array<Sweep, 4> sweeps_{};
  std::uint64_t clock_ = 0;
};

}  // namespace tfilefs
