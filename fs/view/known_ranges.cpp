// SPDX-License-Identifier: Apache-2.0
#include "view/known_ranges.h"

namespace tfilefs {
namespace {

// Each group takes a range and a bound.
constexpr std::size_t kKnownGroupsMax = (8 << 20) / (sizeof(ValueRange) + sizeof(std::int64_t));

}  // namespace

bool KnownRanges::has_room_now(std::uint64_t table, std::size_t groups) const {
  const auto found = tables_.find(table);
  return groups <= kKnownGroupsMax - groups_ && (found == tables_.end() || !found->second.is_fixed);
}

bool KnownRanges::has_room(std::uint64_t table, std::size_t groups) const {
  const Lock lock(mutex_);
  return has_room_now(table, groups);
}

void KnownRanges::note(std::uint64_t table, const tfile::Column& column, GroupRanges ranges) {
  const std::size_t groups = ranges.groups.size();
  const Lock lock(mutex_);
  if (!has_room_now(table, groups)) return;
  const bool is_new = tables_[table].columns->try_emplace({column.stream, column.slot}, std::move(ranges)).second;
  if (is_new) groups_ += groups;
}

RangesByColumnPtr KnownRanges::fixed(std::uint64_t table) {
  const Lock lock(mutex_);
  OfTable& known = tables_[table];
  known.is_fixed = true;
  return known.columns;
}

}  // namespace tfilefs
