// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tree/read/table_trials.h"

namespace tfile {
namespace {

// A branch has few surplus entries, or many of them with items. So it is not worth reading more baskets.
constexpr std::uint32_t kBasketsLookedAt = 32;

std::int64_t entry_count_of(const BranchStorage& branch) {
  const auto& entry = branch.baskets.entry;
  return entry && !entry->empty() ? entry->back() : 0;
}

// The size of a basket's data before `entry`.
std::uint64_t size_before(const BasketData& data, std::int64_t entry) {
  if (entry <= 0) return 0;
  if (!data.offsets.empty()) return static_cast<std::uint64_t>(data.offsets[static_cast<std::size_t>(entry)]);
  return data.size / static_cast<std::uint64_t>(data.entries) * static_cast<std::uint64_t>(entry);
}

class Search {
 public:
  Search(std::span<const BranchStorage> branches, const SourceOfBranch& source_of)
      : branches_(branches), source_of_(source_of) {}

  void compare(BranchIndex member, BranchIndex collection) {
    const std::int64_t own = entry_count_of(branches_[member]), counted = entry_count_of(branches_[collection]);
    // If the member has no entries at all, the counts show later whether something is missing.
    if (own == counted || own == 0 || found_.contains(member)) return;
    const bool is_longer = own > counted;
    const BranchIndex has_more = is_longer ? member : collection;
    if (!has_items_from(std::min(own, counted), has_more, !is_longer)) return;
    found_.emplace(member, "its branch has " + std::to_string(own) + " entries, and its lists have " +
                               std::to_string(counted) + ": the items are not those of the lists");
  }

  std::map<BranchIndex, std::string> take() { return std::move(found_); }

 private:
  // Any bytes of a member are items; counts are items unless they are 0.
  bool has_items_from(std::int64_t entry, BranchIndex index, bool are_counts) const {
    const BasketTable& baskets = branches_[index].baskets;
    const auto& boundaries = *baskets.entry;
    const auto behind = std::ranges::upper_bound(boundaries, entry);
    auto at = static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(0, behind - boundaries.begin() - 1));
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(baskets.seek.size(), at + kBasketsLookedAt));
    for (; at < end; ++at) {
      TrialBaskets basket([this](BranchIndex i) -> const BranchStorage& { return branches_[i]; }, source_of_);
      basket.want(index, at);
      basket.read_wanted();
      const auto data = basket.data(index, at);
      if (!data) return false;
      const std::uint64_t before = size_before(*data, entry - boundaries[at]);
      if (before > data->size) return false;
      const auto bytes = data->bytes().subspan(before);
      if (std::ranges::any_of(bytes, [&](std::byte b) { return !are_counts || b != std::byte{0}; })) return true;
    }
    return false;
  }

  const std::span<const BranchStorage> branches_;
  const SourceOfBranch& source_of_;
  std::map<BranchIndex, std::string> found_;
};

}  // namespace

std::optional<ColumnId> list_of_others(std::span<const Column> all, const Column& column) {
  for (auto list = column.lists.rbegin(); list != column.lists.rend(); ++list)
    if (all[*list].stream != column.stream) return *list;
  return std::nullopt;
}

std::map<BranchIndex, std::string> contradicted_branches(std::span<const Column> columns, const StreamSlots& streams,
                                                         std::span<const UnresolvedBranch> unresolved,
                                                         std::span<const BranchStorage> branches,
                                                         const SourceOfBranch& source_of) {
  Search search(branches, source_of);
  for (const Column& column : columns)
    if (const auto list = list_of_others(columns, column))
      search.compare(streams[column.stream].branch, streams[columns[*list].stream].branch);
  for (const UnresolvedBranch& branch : unresolved)
    if (!branch.lists.empty()) search.compare(branch.branch, streams[columns[branch.lists.back()].stream].branch);
  return search.take();
}

}  // namespace tfile
