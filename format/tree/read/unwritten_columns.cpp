// SPDX-License-Identifier: Apache-2.0
// Columns of members that ROOT could not reach, and to which it wrote nothing.
#include <algorithm>
#include <set>
#include <vector>

#include "tree/read/basket_data.h"
#include "tree/read/table_trials.h"
#include "tree/read/tree_streams.h"

namespace tfile {
namespace {

Result<> note_failure(const TrialBaskets& baskets, std::span<Column> all, ColumnId id,
                      std::set<ColumnId>& left_unread) {
  if (!baskets.failure()) return {};
  if (baskets.failure()->kind != ErrorKind::io) return tl::unexpected<Error>(*baskets.failure());
  all[id].reason = cannot_be_read(*baskets.failure());
  left_unread.insert(id);
  return {};
}

// The stream with the ends of the innermost list around a column.
StreamId list_around(std::span<const Column> all, const Column& column) { return all[column.lists.back()].stream; }

}  // namespace

bool TreeTable::is_doubtful(std::span<const Column> all, const Column& column) const {
  if (column.lists.empty() || column.role != Role::values || !column.reason.empty()) return false;
  const StreamId lists = list_around(all, column);
  const Stream::Kind stored = streams_[column.stream].kind;
  if (lists == column.stream || (stored != Stream::Kind::flat && stored != Stream::Kind::program)) return false;
  return may_hold_nothing(column.stream) && basket_count(lists) > 0;
}

bool TreeTable::may_hold_nothing(StreamId id) const {
  const BranchStorage& branch = branch_of(id);
  if (!sizes_add_up(id)) return false;
  const auto on_disk = basket_count(id) - branch.embedded.size();
  const auto offsets_max = branch.entry_offset_len == 0 ? 0 : kOffsetSize * (stream_entries(id) + 2 * on_disk);
  return static_cast<std::uint64_t>(branch.tot_bytes) <= on_disk * header_max(branch) + offsets_max;
}

Result<> TreeTable::note_unwritten(std::vector<Column>& all, std::set<ColumnId>& left_unread) const {
  std::vector<ColumnId> doubtful;
  for (ColumnId id = 0; id < all.size(); ++id)
    if (is_doubtful(all, all[id])) doubtful.push_back(id);
  // Most have items in their first basket. The others are small.
  for (const bool whole : {false, true}) TRY_VOID(keep_those_without_items(all, doubtful, whole, left_unread));
  for (std::span<const ColumnId> left = doubtful; !left.empty();) {
    TrialBaskets counts = no_baskets();
    std::size_t count = 0;
    for (; count < left.size() && counts.wanted_bytes() < TrialBaskets::kPlanBytes; ++count)
      counts.want(streams_[list_around(all, all[left[count]])].branch, 0);
    TRY_VOID(note_unwritten(all, left.first(count), counts, left_unread));
    left = left.subspan(count);
  }
  return {};
}

Result<> TreeTable::keep_those_without_items(std::vector<Column>& all, std::vector<ColumnId>& columns_left, bool whole,
                                             std::set<ColumnId>& left_unread) const {
  std::vector<ColumnId> kept;
  for (std::span<const ColumnId> left = columns_left; !left.empty();) {
    TrialBaskets headers = no_baskets();
    std::size_t count = 0;
    for (; count < left.size() && headers.wanted_bytes() < TrialBaskets::kPlanBytes; ++count) {
      const StreamId stream = all[left[count]].stream;
      for (std::uint32_t i = 0; i < baskets_looked_at(stream, whole); ++i)
        headers.want(streams_[stream].branch, i, header_max(branch_of(stream)));
    }
    headers.read_wanted();
    for (const ColumnId id : left.first(count)) {
      headers.begin();
      if (holds_nothing(all[id].stream, headers, whole)) kept.push_back(id);
      TRY_VOID(note_failure(headers, all, id, left_unread));
    }
    left = left.subspan(count);
  }
  columns_left = std::move(kept);
  return {};
}

std::uint32_t TreeTable::baskets_looked_at(StreamId id, bool whole) const {
  return static_cast<std::uint32_t>(whole ? basket_count(id) : std::min<std::size_t>(basket_count(id), 1));
}

Result<> TreeTable::note_unwritten(std::vector<Column>& all, std::span<const ColumnId> empty, TrialBaskets& counts,
                                   std::set<ColumnId>& left_unread) const {
  counts.read_wanted();
  for (const ColumnId id : empty) {
    const StreamId lists = list_around(all, all[id]);
    counts.begin();
    if (counts_items(counts, streams_[lists].branch, stream_entries(lists)))
      all[id].reason = "its lists have items, but it was not written";
    TRY_VOID(note_failure(counts, all, id, left_unread));
  }
  return {};
}

TrialBaskets TreeTable::no_baskets() const {
  return {[this](BranchIndex index) -> const BranchStorage& { return branches_[index]; },
          [this](const BranchStorage& branch) { return source_of(branch); }};
}

bool TreeTable::holds_nothing(StreamId id, TrialBaskets& headers, bool whole) const {
  for (std::uint32_t i = 0; i < baskets_looked_at(id, whole); ++i) {
    Result<std::span<const std::byte>> header = std::span<const std::byte>();
    if (!embedded_basket(branch_of(id), i)) header = headers.stored(streams_[id].branch, i);
    if (!header) return false;
    const auto size = data_size({id, i}, *header);
    if (!size || *size != 0) return false;
  }
  return true;
}

}  // namespace tfile
