// SPDX-License-Identifier: Apache-2.0
#include "cache/fetch_plan.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tfilefs {

std::vector<FetchRange> plan_fetch(std::vector<FetchWish> wishes, const FetchLimits& limits) {
  std::sort(wishes.begin(), wishes.end(), [](const FetchWish& a, const FetchWish& b) {
    if (a.source != b.source) return std::less<>()(a.source, b.source);
    return std::tie(a.range.begin, a.range.size) < std::tie(b.range.begin, b.range.size);
  });
  std::vector<FetchRange> plan;
  for (const FetchWish& wish : wishes) {
    if (!plan.empty() && plan.back().source == wish.source) {
      FetchRange& last = plan.back();
      const std::uint64_t end = std::max(last.range.end(), wish.range.end());
      const bool inside = end == last.range.end();
      const bool near = wish.range.begin <= last.range.end() + limits.gap_max;
      if (inside || (near && end - last.range.begin <= limits.range_max)) {
        last.range.size = end - last.range.begin;
        last.ids.push_back(wish.id);
        continue;
      }
    }
    plan.push_back({wish.source, wish.range, {wish.id}});
  }
  return plan;
}

std::uint64_t planned_bytes(const std::vector<FetchRange>& plan) {
  std::uint64_t sum = 0;
  for (const FetchRange& r : plan) sum += r.range.size;
  return sum;
}

}  // namespace tfilefs
