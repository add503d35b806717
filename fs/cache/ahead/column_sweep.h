// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "tfile/node.h"
#include "tfile/range.h"

namespace tfilefs {

// Notices who reads one stream of a table after the other, in their order, each for the same entries: `cp -r`, `tar`,
// an analysis that wants all of every hundredth entry, or one that goes through the table some entries of each column
// at a time, round after round. A few such readers can be followed at once. Pure.
class ColumnSweep {
 public:
  struct Advice {
    tfile::StreamId begin = 0, end = 0;  // streams that will be wanted soon; none if equal
    tfile::EntryRange entries;           // of each
  };

  // `stored`: bytes that a stream takes in the file; `streams`: how many there are; `window_max`: stored bytes that may
  // be loaded ahead.
  ColumnSweep(std::function<std::uint64_t(tfile::StreamId)> stored, tfile::StreamId streams, std::uint64_t window_max)
      : stored_(std::move(stored)), streams_(streams), window_max_(window_max) {}

  // A reader asked for these entries of a stream that has `all` of them.
  Advice observe(tfile::StreamId stream, tfile::EntryRange entries, std::int64_t all);

 private:
  struct Sweep {
    tfile::StreamId first = 0;   // where it began
    tfile::StreamId stream = 0;  // where it is
    tfile::EntryRange now;       // what was read of it, in one go
    tfile::EntryRange reach;     // and of all before: columns of wide items are read for fewer entries at a time
    std::uint32_t columns = 0;   // how many it has read; 0: free
    bool in_turn = true;         // each right after the one before, nobody between: who reads at random seldom does
    tfile::StreamId loaded_from = 0, loaded_until = 0;
    tfile::EntryRange loaded;  // entries of the streams loaded
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
