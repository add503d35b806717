// SPDX-License-Identifier: Apache-2.0
#include "tfile/kept_entries.h"

#include <algorithm>

#include "tfile/check.h"

namespace tfile {

KeptEntries::KeptEntries(std::span<const EntryRange> ranges) {
  for (const EntryRange& range : ranges) add(range);
}

void KeptEntries::add(EntryRange range) {
  if (range.size() <= 0) return;
  TFILE_DCHECK(ranges_.empty() || ranges_.back().end <= range.begin);
  if (!ranges_.empty() && ranges_.back().end == range.begin) {
    ranges_.back().end = range.end;
  } else {
    before_.push_back(count());
    ranges_.push_back(range);
  }
}

std::int64_t KeptEntries::before(std::int64_t entry) const {
  const auto behind = std::ranges::upper_bound(ranges_, entry, {}, &EntryRange::begin);
  if (behind == ranges_.begin()) return 0;
  const auto at = static_cast<std::size_t>(std::prev(behind) - ranges_.begin());
  return before_[at] + std::min(entry, ranges_[at].end) - ranges_[at].begin;
}

std::vector<EntryRange> KeptEntries::numbered(EntryRange numbers) const {
  std::vector<EntryRange> found;
  const auto behind = std::ranges::upper_bound(before_, numbers.begin);
  for (auto at = static_cast<std::size_t>(behind - before_.begin()) - 1; at < ranges_.size(); ++at) {
    const std::int64_t first = std::max(numbers.begin, before_[at]);
    const std::int64_t end = std::min(numbers.end, before_[at] + ranges_[at].size());
    if (first >= end) break;
    found.push_back({ranges_[at].begin + first - before_[at], ranges_[at].begin + end - before_[at]});
  }
  return found;
}

KeptEntries KeptEntries::within(EntryRange entries) const {
  std::vector<EntryRange> found = numbered({before(entries.begin), before(entries.end)});
  for (EntryRange& range : found) range = {range.begin - entries.begin, range.end - entries.begin};
  return KeptEntries(found);
}

}  // namespace tfile
