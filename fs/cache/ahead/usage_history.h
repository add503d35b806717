// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tfile/node.h"

namespace tfilefs {

// Which streams of a table are used together, whoever uses them: what TTreeCache learns in one process, here over all
// readers and openings. The table is cut into parts of equal numbers of entries; each coming back of readers to a part
// is a visit, and of each stream it is remembered in which of the last visits it was used. Pure.
class UsageHistory {
 public:
  // `parts`: how many there are.
  explicit UsageHistory(std::uint32_t parts) : open_(std::clamp(parts / 2, 1u, kOpenVisitsMax)) {}

  // A reader asked for entries of `stream` that lie in the parts [first, last].
  void note(tfile::StreamId stream, std::uint32_t first, std::uint32_t last);

  // Whether it was used in a visit that is not the present one of these parts; else it has no companions.
  bool was_used_before(tfile::StreamId stream, std::uint32_t first, std::uint32_t last) const;

  // The streams that were used in at least half of the last few visits in which `stream` was, those to the parts
  // [first, last] not counted, where it is now. What is no longer used with it so drops out, and what is rarely used
  // never comes in. Before one of them was used in the present visit, only those count that were in all of the last
  // few: two reads at random may meet once. Sorted.
  std::vector<tfile::StreamId> companions(tfile::StreamId stream, std::uint32_t first, std::uint32_t last) const;

 private:
  using Visit = std::uint64_t;
  struct Use {
    Visit last = 0;          // 0: never
    std::uint64_t mask = 0;  // bit i: used in visit last - i
  };
  struct PartVisit {
    std::uint32_t part = 0;
    Visit visit = 0;
  };
  static std::uint64_t earlier(const Use& own, std::uint64_t present);
  std::uint64_t present(const Use& own, std::uint32_t first, std::uint32_t last) const;
  Visit visit_of(std::uint32_t part);
  void note_visit(tfile::StreamId, Visit);

  // Readers of one job are not in step to the entry, and one request may span parts: so many may be in use at once. No
  // more than half of them, or visits would never end, and whatever is read at random would count as used together.
  static constexpr std::uint32_t kOpenVisitsMax = 32;
  // Of a longer request the first parts are noted: the rest of a visit's mask is for what was before.
  static constexpr std::uint32_t kPartsNoted = 16;
  // Enough to forgive one part that was passed over, and few, so that what fell out of use drops out soon.
  static constexpr int kVisitsCompared = 4;

  std::vector<PartVisit> open_;  // the oldest is replaced
  Visit visits_ = 0;
  std::unordered_map<tfile::StreamId, Use> uses_;  // of those that were ever used
};

}  // namespace tfilefs
