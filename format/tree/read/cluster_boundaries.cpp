// SPDX-License-Identifier: Apache-2.0
#include "tree/read/cluster_boundaries.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace tfile {
namespace {

// Empty if the file has none, or more than possible. Every cluster ends a basket of every branch, so a claim of 2^60
// clusters of one entry is false and must not take memory.
std::vector<std::int64_t> told_boundaries(const TreeRecord& tree) {
  if (tree.entries <= 0) return {};
  std::size_t clusters_max = 1;
  for (const BranchRecord& branch : tree.branches)
    clusters_max = std::max(clusters_max, branch.baskets.seek.size() + 1);
  std::vector<std::int64_t> starts;
  std::int64_t begin = 0;
  auto add_range = [&](std::int64_t end, std::int64_t size) {
    if (end <= begin) return;
    if (size <= 0) size = end - begin;
    for (; begin < end && starts.size() <= clusters_max; begin = size > end - begin ? end : begin + size)
      starts.push_back(begin);
    begin = end;
  };
  for (std::size_t i = 0; i < tree.cluster_range_end.size() && i < tree.cluster_size.size(); ++i)
    add_range(std::min(tree.cluster_range_end[i], tree.entries - 1) + 1, tree.cluster_size[i]);
  if (begin < tree.entries && tree.auto_flush > 0) add_range(tree.entries, tree.auto_flush);
  return starts.size() > clusters_max ? std::vector<std::int64_t>() : starts;
}

// For files without AutoFlush: a cluster may begin where baskets of all branches begin.
std::vector<std::int64_t> common_basket_boundaries(const TreeRecord& tree) {
  std::set<const std::vector<std::int64_t>*> seen;
  std::vector<std::int64_t> common;
  for (const BranchRecord& branch : tree.branches) {
    const auto* entry = branch.baskets.entry.get();
    if (!entry || entry->size() < 2 || !seen.insert(entry).second) continue;
    if (seen.size() == 1) {
      common = *entry;
    } else {
      std::vector<std::int64_t> both;
      std::set_intersection(common.begin(), common.end(), entry->begin(), entry->end(), std::back_inserter(both));
      common = std::move(both);
    }
  }
  if (!common.empty() && common.back() == tree.entries) common.pop_back();
  return common;
}

}  // namespace

std::vector<std::int64_t> cluster_boundaries(const TreeRecord& tree) {
  std::vector<std::int64_t> boundaries = told_boundaries(tree);
  if (boundaries.empty()) boundaries = common_basket_boundaries(tree);
  if (!boundaries.empty()) boundaries.push_back(tree.entries);
  return boundaries;
}

}  // namespace tfile
