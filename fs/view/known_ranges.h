// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mutex.h"
#include "tfile/node.h"

namespace tfilefs {

// The type of the greatest range with the values of a type of number.
template <class T>
using Widened = std::conditional_t<std::is_floating_point_v<T>, double,
                                   std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

// The least and the greatest of some values, as the bits of the widened type. A least 0 of a type with a fraction is
// -0, a greatest one +0. Not known of no values, and where one is NaN.
struct ValueRange {
  std::uint64_t least = 0, most = 0;
  bool is_known = false;
};

// The ranges of a column, by row group.
struct GroupRanges {
  std::vector<std::int64_t> bounds;  // the first value of each group, then their number: each element of each item
  std::vector<ValueRange> groups;
};

// The ranges of a table's columns that are known, by stream and slot.
using RangesByColumn = std::map<std::pair<tfile::StreamId, std::uint32_t>, GroupRanges>;
using RangesByColumnPtr = std::shared_ptr<const RangesByColumn>;

// Ranges of columns that were learnt when these were read for something else, for later Parquet files. Such a
// file must be the same each time it is made of the same state of its source. So what is known of a table is fixed when
// it is first asked for, and this lives as long as that state. Thread-safe.
class KnownRanges {
 public:
  // Whether so many groups of a further column are kept: of each table as long as nothing is fixed, and of all together
  // 8 MiB.
  bool has_room(std::uint64_t table, std::size_t groups) const EXCLUDES(mutex_);
  // Keeps them, unless there is no room.
  void note(std::uint64_t table, const tfile::Column&, GroupRanges) EXCLUDES(mutex_);
  // The ranges of a table that are known now, also for all later calls.
  RangesByColumnPtr fixed(std::uint64_t table) EXCLUDES(mutex_);

 private:
  struct OfTable {
    std::shared_ptr<RangesByColumn> columns = std::make_shared<RangesByColumn>();
    bool is_fixed = false;
  };
  bool has_room_now(std::uint64_t table, std::size_t groups) const REQUIRES(mutex_);

  mutable Mutex mutex_{"KnownRanges::mutex_"};
  std::unordered_map<std::uint64_t, OfTable> tables_ GUARDED_BY(mutex_);
  std::size_t groups_ GUARDED_BY(mutex_) = 0;
};

// Those of one table. `all` null: nothing is kept.
struct TableRanges {
  std::shared_ptr<KnownRanges> all;
  std::uint64_t table = 0;  // a number that no other table in `all` has
};

}  // namespace tfilefs
