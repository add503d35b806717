// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/unit_plan.h"

#include <algorithm>
#include <tuple>

#include "tree/read/cluster_boundaries.h"
#include "tree/write/basket_encode.h"

namespace tfile {
namespace {

// A whole basket is not put together with others if it has at least this share of the entries of a basket.
constexpr std::int64_t kWholeShare = 4;

EntryBytes bytes_of(const BranchRecord& branch) {
  const std::int64_t entries =
      branch.baskets.entry && !branch.baskets.entry->empty() ? branch.baskets.entry->back() : 0;
  if (entries <= 0) return {};
  return {static_cast<double>(branch.tot_bytes) / static_cast<double>(entries),
          static_cast<double>(branch.zip_bytes) / static_cast<double>(entries)};
}

class Planner {
 public:
  Planner(const SourceTree& tree, const KeptEntries& kept, const std::vector<bool>& copies, const UnitWishes& wishes)
      : record_(tree.tree.record), kept_(kept), copies_(copies), wishes_(wishes) {
    stays_ = wishes.cluster_bytes == 0 && wishes.keeps_all;
  }

  UnitPlan run() {
    for (BranchIndex i = 0; i < record_.branches.size(); ++i) {
      if (copies_[i]) stored_ += bytes_of(record_.branches[i]).stored;
    }
    plan_.cluster_ends = wishes_.cluster_bytes == 0 ? joined_clusters() : new_clusters();
    for (BranchIndex i = 0; i < record_.branches.size(); ++i) {
      if (copies_[i]) add_branch(i);
    }
    std::ranges::sort(plan_.baskets, {}, [](const CopiedBasket& basket) {
      return std::tuple(basket.cluster, basket.kept.begin, basket.branch, basket.first);
    });
    return std::move(plan_);
  }

 private:
  // The ends of the tree's clusters in the copy. Small ones that follow each other become one.
  std::vector<std::int64_t> joined_clusters() const {
    std::vector<std::int64_t> boundaries = cluster_boundaries(record_);
    if (boundaries.empty()) boundaries = {0, record_.entries};
    const double whole = stored_ * static_cast<double>(record_.entries) / static_cast<double>(boundaries.size() - 1);
    std::vector<std::int64_t> ends;
    std::int64_t begin = 0;
    for (std::size_t i = 1; i < boundaries.size(); ++i) {
      const std::int64_t end = kept_.before(boundaries[i]);
      const bool is_last = i + 1 == boundaries.size();
      // Half a cluster: joined ones are then at most as large as the largest.
      if (end == begin || (!is_last && !stays_ && stored_ * static_cast<double>(end - begin) < whole / 2)) continue;
      ends.push_back(end);
      begin = end;
    }
    if (begin < kept_.count()) ends.push_back(kept_.count());
    return ends;
  }

  std::vector<std::int64_t> new_clusters() const {
    std::vector<std::int64_t> baskets;
    for (BranchIndex i = 0; i < record_.branches.size(); ++i) {
      if (copies_[i]) baskets.push_back(basket_entries(bytes_of(record_.branches[i])));
    }
    const std::int64_t each = std::max<std::int64_t>(1, cluster_entries(wishes_.cluster_bytes, stored_, baskets));
    std::vector<std::int64_t> ends;
    for (std::int64_t end = each; end < kept_.count(); end += each) ends.push_back(end);
    if (kept_.count() > 0) ends.push_back(kept_.count());
    return ends;
  }

  std::uint32_t cluster_of(std::int64_t number) const {
    return static_cast<std::uint32_t>(std::ranges::upper_bound(plan_.cluster_ends, number) -
                                      plan_.cluster_ends.begin());
  }

  // Entries that follow each other and wait to become baskets.
  struct Waiting {
    EntryRange kept;
    std::uint32_t first = 0, last = 0;  // baskets
  };

  void add_branch(BranchIndex index) {
    const BranchRecord& branch = record_.branches[index];
    const auto baskets = static_cast<std::uint32_t>(branch.baskets.seek.size());
    const std::int64_t entries_each = std::max<std::int64_t>(1, basket_entries(bytes_of(branch)));
    Waiting waiting;
    for (std::uint32_t i = 0; i < baskets; ++i) {
      const EntryRange all{(*branch.baskets.entry)[i], (*branch.baskets.entry)[i + 1]};
      const EntryRange kept{kept_.before(all.begin), kept_.before(all.end)};
      if (kept.size() == 0) continue;
      const bool is_whole = kept.size() == all.size() && may_stay(kept, entries_each);
      if (is_whole) {
        flush(index, waiting);
        plan_.baskets.push_back({index, i, 1, true, cluster_of(kept.begin), kept});
      } else {
        wait_for(index, waiting, i, kept, entries_each);
      }
    }
    flush(index, waiting);
  }

  bool may_stay(EntryRange kept, std::int64_t entries_each) const {
    if (stays_) return true;
    const std::int64_t end = plan_.cluster_ends[cluster_of(kept.begin)];
    return kept.end <= end && kept.size() >= entries_each / kWholeShare;
  }

  // Adds kept entries of a basket to those that wait. Full baskets, and those that end a cluster, are made.
  void wait_for(BranchIndex index, Waiting& waiting, std::uint32_t basket, EntryRange kept, std::int64_t entries_each) {
    for (std::int64_t at = kept.begin; at < kept.end;) {
      if (waiting.kept.size() == 0) waiting = {{at, at}, basket, basket};
      const std::int64_t cluster_end = plan_.cluster_ends[cluster_of(waiting.kept.begin)];
      const std::int64_t full = std::min(waiting.kept.begin + entries_each, cluster_end);
      waiting.kept.end = std::min(kept.end, full);
      waiting.last = basket;
      at = waiting.kept.end;
      if (at == full) flush(index, waiting);
    }
  }

  void flush(BranchIndex index, Waiting& waiting) {
    if (waiting.kept.size() == 0) return;
    plan_.baskets.push_back(
        {index, waiting.first, waiting.last - waiting.first + 1, false, cluster_of(waiting.kept.begin), waiting.kept});
    waiting = {};
  }

  const TreeRecord& record_;
  const KeptEntries& kept_;
  const std::vector<bool>& copies_;
  const UnitWishes wishes_;
  bool stays_ = false;
  double stored_ = 0;  // bytes of an entry of all copied branches
  UnitPlan plan_;
};

}  // namespace

UnitPlan plan_units(const SourceTree& tree, const KeptEntries& kept, const std::vector<bool>& copies,
                    const UnitWishes& wishes) {
  return Planner(tree, kept, copies, wishes).run();
}

}  // namespace tfile
