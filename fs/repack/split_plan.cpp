// SPDX-License-Identifier: Apache-2.0
#include "repack/split_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tfilefs {
namespace {

// Files may be so much larger than wished. One that is larger still is written again, once, with fewer entries.
constexpr double kExcessMax = 1.02;
// Files are planned so much smaller, as clusters differ in size.
constexpr double kFilled = 0.97;
// A file is so much smaller or larger than the one before at most: one file tells little of the next.
constexpr double kChangeMax = 4;
// How much earlier or later a file may end to end with a cluster, as parts of what it has. Later is close to the limit.
constexpr double kReachBack = 0.2, kReachOn = 0.02;

}  // namespace

SplitPlan::SplitPlan(std::vector<SplitTable> tables, std::uint64_t file_bytes)
    : tables_(std::move(tables)), file_bytes_(static_cast<double>(file_bytes)) {
  double bytes = 1;
  for (const SplitTable& table : tables_) {
    bytes += static_cast<double>(table.bytes);
    begins_[table.path] = 0;
    if (table.entries > 0 && (lead_ == nullptr || table.bytes > lead_->bytes)) lead_ = &table;
  }
  set_step(kFilled * file_bytes_ / bytes);
}

// At least one entry of the leading table, so that each file has some.
void SplitPlan::set_step(double step) {
  step_ = std::clamp(step, lead_ == nullptr ? 1 : 1 / static_cast<double>(lead_->entries), 1.0);
}

std::map<std::string, tfile::EntryRange> SplitPlan::next() const {
  std::map<std::string, tfile::EntryRange> shares;
  for (const SplitTable& table : tables_) {
    const bool is_as_lead = lead_ != nullptr && table.entries == lead_->entries;
    shares.emplace(table.path, tfile::EntryRange{begins_.at(table.path), end_in(is_as_lead ? *lead_ : table)});
  }
  return shares;
}

std::int64_t SplitPlan::end_in(const SplitTable& table) const {
  const auto entries = static_cast<double>(table.entries);
  const std::int64_t begin = begins_.at(table.path), wanted = std::llround(entries * (done_ + step_));
  if (done_ + step_ >= 1 || wanted >= table.entries) return table.entries;
  const std::int64_t first = std::max(begin + 1, wanted - static_cast<std::int64_t>(entries * step_ * kReachBack));
  const std::int64_t last = wanted + static_cast<std::int64_t>(entries * step_ * kReachOn);
  std::int64_t best = std::max(begin, wanted);
  bool ends_cluster = false;
  for (const std::int64_t end : table.cluster_ends) {
    if (end < first || end > last || (ends_cluster && std::abs(end - wanted) > std::abs(best - wanted))) continue;
    best = end;
    ends_cluster = true;
  }
  return best;
}

bool SplitPlan::take(std::uint64_t bytes) {
  const std::map<std::string, tfile::EntryRange> shares = next();
  if (lead_ == nullptr) {
    done_ = 1;
    return true;
  }
  const tfile::EntryRange lead = shares.at(lead_->path);
  const double part = static_cast<double>(lead.size()) / static_cast<double>(lead_->entries);
  const double change = kFilled * file_bytes_ / std::max(1.0, static_cast<double>(bytes));
  const bool is_too_large = static_cast<double>(bytes) > kExcessMax * file_bytes_;
  set_step(part * std::clamp(change, 1 / kChangeMax, kChangeMax));
  if (is_too_large && lead.size() > 1 && !std::exchange(is_second_trial_, true)) return false;
  for (const auto& [path, share] : shares) begins_[path] = share.end;
  done_ = static_cast<double>(lead.end) / static_cast<double>(lead_->entries);
  is_second_trial_ = false;
  return true;
}

}  // namespace tfilefs
