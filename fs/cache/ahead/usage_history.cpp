// SPDX-License-Identifier: Apache-2.0
#include "cache/ahead/usage_history.h"

#include <algorithm>
#include <bit>

namespace tfilefs {

UsageHistory::Visit UsageHistory::visit_of(std::uint32_t part) {
  PartVisit* oldest = &open_[0];
  for (PartVisit& place : open_) {
    if (place.visit != 0 && place.part == part) return place.visit;
    if (place.visit < oldest->visit) oldest = &place;
  }
  *oldest = {part, ++visits_};
  return visits_;
}

void UsageHistory::note(tfile::StreamId stream, std::uint32_t first, std::uint32_t last) {
  last = std::min(last, first + kPartsNoted - 1);
  for (std::uint32_t part = first; part <= last; ++part) note_visit(stream, visit_of(part));
}

void UsageHistory::note_visit(tfile::StreamId stream, Visit visit) {
  Use& use = uses_[stream];
  if (visit > use.last) {
    const Visit shift = visit - use.last;
    use.mask = (shift < 64 ? use.mask << shift : 0) | 1;
    use.last = visit;
  } else if (use.last - visit < 64) {
    use.mask |= std::uint64_t{1} << (use.last - visit);
  }
}

// The last few visits in which the stream was used, without the present ones, as bits relative to its last use.
std::uint64_t UsageHistory::earlier(const Use& own, std::uint64_t present) {
  std::uint64_t wanted = 0, rest = own.mask & ~present;
  for (int i = 0; i < kVisitsCompared && rest != 0; ++i) {
    wanted |= rest & -rest;
    rest &= rest - 1;
  }
  return wanted;
}

// The present visits to these parts, as bits relative to the stream's last use.
std::uint64_t UsageHistory::present(const Use& own, std::uint32_t first, std::uint32_t last) const {
  std::uint64_t visits = 0;
  for (const PartVisit& open : open_)
    if (open.part >= first && open.part <= last && open.visit <= own.last && own.last - open.visit < 64)
      visits |= std::uint64_t{1} << (own.last - open.visit);
  return visits;
}

bool UsageHistory::was_used_before(tfile::StreamId stream, std::uint32_t first, std::uint32_t last) const {
  const auto place = uses_.find(stream);
  return place != uses_.end() && earlier(place->second, present(place->second, first, last)) != 0;
}

std::vector<tfile::StreamId> UsageHistory::companions(tfile::StreamId stream, std::uint32_t first,
                                                      std::uint32_t last) const {
  std::vector<tfile::StreamId> usual, constant;
  const auto place = uses_.find(stream);
  if (place == uses_.end()) return usual;
  const Use& own = place->second;
  const std::uint64_t now = present(own, first, last), wanted = earlier(own, now);
  if (wanted == 0) return usual;
  const int needed = (std::popcount(wanted) + 1) / 2;
  bool confirmed = false;
  for (const auto& [other, use] : uses_) {
    std::uint64_t aligned = 0;
    if (use.last >= own.last && use.last - own.last < 64) aligned = use.mask >> (use.last - own.last);
    if (use.last < own.last && own.last - use.last < 64) aligned = use.mask << (own.last - use.last);
    const int together = std::popcount(aligned & wanted);
    if (other == stream || together < needed) continue;
    usual.push_back(other);
    if (together == kVisitsCompared) constant.push_back(other);
    confirmed = confirmed || (aligned & now) != 0;
  }
  std::vector<tfile::StreamId>& found = confirmed ? usual : constant;
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tfilefs
