// SPDX-License-Identifier: Apache-2.0
#include "cache/fetch_plan.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace tfilefs {
namespace {

std::vector<FetchRange> merged(std::span<const FetchWish> wishes, const LimitsOf& limits_of) {
  std::vector<FetchRange> plan;
  tfile::JoinLimits limits;  // of the last source
  tfile::JoinedRange last;
  for (const FetchWish& wish : wishes) {
    const bool is_first = plan.empty() || plan.back().source != wish.source;
    if (is_first) limits = limits_of(*wish.source);
    if (is_first || !last.add(wish.range, limits)) {
      last = tfile::JoinedRange(wish.range);
      plan.push_back({wish.source, {}, {}});
    }
    plan.back().range = last.range();
    plan.back().wishes.push_back(wish);
  }
  return plan;
}

}  // namespace

std::vector<FetchRange> plan_fetch(std::vector<FetchWish> wishes, const LimitsOf& limits_of, std::uint64_t plan_max) {
  const auto before = [](const FetchWish& a, const FetchWish& b) {
    if (a.source != b.source) return std::less<>()(a.source, b.source);
    return std::tie(a.range.begin, a.range.size) < std::tie(b.range.begin, b.range.size);
  };
  // The chunks of one column are mostly in order already.
  if (!std::is_sorted(wishes.begin(), wishes.end(), before)) std::sort(wishes.begin(), wishes.end(), before);
  auto plan = merged(wishes, limits_of);
  const std::uint64_t bytes = planned_bytes(plan);
  if (bytes <= plan_max) return plan;
  auto without_gaps = merged(wishes, [&](const tfile::Source& source) {
    return tfile::JoinLimits{.gap_max = 0, .range_max = limits_of(source).range_max};
  });
  return bytes / 2 <= planned_bytes(without_gaps) ? plan : without_gaps;
}

std::vector<std::span<const FetchRange>> requests_of(std::span<const FetchRange> plan) {
  std::vector<std::span<const FetchRange>> requests;
  for (; !plan.empty(); plan = plan.subspan(requests.back().size()))
    requests.push_back(plan.first(tfile::parts_of_request(plan)));
  return requests;
}

std::uint64_t planned_bytes(std::span<const FetchRange> plan) {
  std::uint64_t sum = 0;
  for (const FetchRange& r : plan) sum += r.range.size;
  return sum;
}

std::uint64_t read_calls(std::span<const FetchRange> ranges) {
  std::uint64_t calls = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (i == 0 || ranges[i - 1].source != ranges[i].source || ranges[i - 1].range.end() != ranges[i].range.begin)
      ++calls;
  return calls;
}

}  // namespace tfilefs
