// SPDX-License-Identifier: Apache-2.0
#include "view/friends/entry_runs.h"

#include <algorithm>

#include "tfile/check.h"

namespace tfilefs {

EntryRuns EntryRuns::by_position(std::int64_t entries, std::span<const EntryPart> parts) {
  EntryRuns runs(entries);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t end = i + 1 < parts.size() ? parts[i + 1].entry : entries;
    const std::int64_t count = std::min(end - parts[i].entry, parts[i].count);
    if (count > 0) runs.add(parts[i].entry, parts[i].friend_entry, count);
  }
  return runs;
}

bool EntryRuns::has_gap() const { return !runs_.empty() && runs_.back().entry != runs_.back().before; }

void EntryRuns::add(std::int64_t entry, std::int64_t friend_entry, std::int64_t count) {
  bool goes_on = false;
  if (!runs_.empty()) {
    const EntryRun& last = runs_.back();
    const std::int64_t length = matched_ - last.before;
    TFILE_DCHECK(entry >= last.entry + length);
    goes_on = entry == last.entry + length && friend_entry == last.friend_entry + length;
  }
  if (!goes_on) runs_.push_back({entry, friend_entry, matched_});
  matched_ += count;
}

std::size_t EntryRuns::run_at(std::int64_t entry) const {
  const auto behind = std::ranges::upper_bound(runs_, entry, {}, &EntryRun::entry);
  return static_cast<std::size_t>(behind - runs_.begin()) - 1;
}

std::int64_t EntryRuns::friend_entry(std::int64_t entry) const {
  const std::size_t run = run_at(entry);
  if (run == SIZE_MAX) return -1;
  const std::int64_t inside = entry - runs_[run].entry;
  return inside < count(run) ? runs_[run].friend_entry + inside : -1;
}

std::int64_t EntryRuns::matched_before(std::int64_t entry) const {
  const std::size_t run = run_at(entry);
  if (run == SIZE_MAX) return 0;
  return runs_[run].before + std::min(count(run), entry - runs_[run].entry);
}

RunBlock EntryRuns::block(std::size_t number, std::vector<EntryRun>&) const {
  const std::size_t first = number * kBlockRuns, end = std::min(first + kBlockRuns, runs_.size());
  return {std::span(runs_).subspan(first, end - first), end < runs_.size() ? runs_[end].before : matched_};
}

std::size_t EntryRuns::run_of(std::int64_t matched) const {
  const auto behind = std::ranges::upper_bound(runs_, matched, {}, &EntryRun::before);
  return static_cast<std::size_t>(behind - runs_.begin()) - 1;
}

}  // namespace tfilefs
