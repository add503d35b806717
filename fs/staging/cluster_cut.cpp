// SPDX-License-Identifier: Apache-2.0
#include "staging/cluster_cut.h"

#include <algorithm>
#include <cmath>

namespace tfilefs {
namespace {

constexpr double kBasketStep = 512;        // of basket sizes, and the least: as TTree::OptimizeBaskets
constexpr double kBasketMost = 1u << 30;   // TBasket counts its bytes in an int
constexpr double kEntriesMost = 1ll << 53; // entries of nothing: what a double still counts

double to_step(double bytes) { return std::clamp(std::floor(bytes / kBasketStep) * kBasketStep, kBasketStep, kBasketMost); }

ClusterSize::Baskets baskets_of(double raw, double share, std::int64_t cluster_entries) {
  const double whole = raw * static_cast<double>(cluster_entries);
  // Rounded up, so that a cluster that fits is one basket.
  const double most = std::clamp(std::ceil(whole / kBasketStep) * kBasketStep, kBasketStep, kBasketMost);
  const double bytes = std::min(to_step(share), most);
  ClusterSize::Baskets baskets;
  baskets.bytes = static_cast<std::int32_t>(bytes);
  const double fit = raw > 0 ? std::floor(bytes / raw) : static_cast<double>(cluster_entries);
  baskets.entries = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(fit, kEntriesMost)), 1, cluster_entries);
  // As many baskets, but of equal length: else the last one of each cluster is a stub.
  const std::int64_t count = (cluster_entries + baskets.entries - 1) / baskets.entries;
  baskets.entries = (cluster_entries + count - 1) / count;
  return baskets;
}

}  // namespace

ClusterSize first_cut(std::span<const BranchSample> branches, const AutoFlush& auto_flush, std::uint64_t memory) {
  double raw = 0, stored = 0;
  for (const BranchSample& branch : branches) {
    raw += branch.raw;
    stored += branch.stored;
  }
  ClusterSize size;
  size.entries = auto_flush.entries;
  if (size.entries <= 0) {
    const double entries = stored > 0 ? static_cast<double>(auto_flush.bytes) / stored : kEntriesMost;
    size.entries = std::max<std::int64_t>(1, std::llround(std::min(entries, kEntriesMost)));
  }
  for (const BranchSample& branch : branches) {
    const double share = raw > 0 ? static_cast<double>(memory) * branch.raw / raw : 0;
    size.branches.push_back(baskets_of(branch.raw, share, size.entries));
  }
  return size;
}

bool in_step(std::span<const BranchProgress> branches) {
  if (branches.empty()) return false;
  const auto newest = std::ranges::max_element(branches, {}, &BranchProgress::first_write)->first_write;
  return std::ranges::all_of(branches, [&](const BranchProgress& branch) { return branch.last_write >= newest; });
}

std::optional<tfile::EntryRange> next_cut(std::span<const BranchProgress> branches, std::int64_t cut,
                                          std::int64_t cluster_entries, bool whole) {
  if (branches.empty()) return std::nullopt;
  const std::int64_t complete = std::ranges::min_element(branches, {}, &BranchProgress::entries)->entries;
  if (complete <= cut || !(whole || in_step(branches))) return std::nullopt;
  if (cluster_entries > 0 && complete - cut >= cluster_entries) return tfile::EntryRange{cut, cut + cluster_entries};
  if (!whole) return std::nullopt;
  return tfile::EntryRange{cut, complete};
}

}  // namespace tfilefs
