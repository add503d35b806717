// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tfile/node.h"

namespace tfilefs {

// Learns which streams of a table are used together. TTreeCache learns this in one process; here it is from all readers
// and openings. The table is cut into parts of equal numbers of entries. Each return of readers to a part is a visit.
// For each stream the history keeps in which of the last visits it was used. Pure.
class UsageHistory {
 public:
  // `parts`: how many there are.
  explicit UsageHistory(std::uint32_t parts) : open_(std::clamp(parts / 2, 1u, kOpenVisitsMax)) {}

  // A reader asked for entries of `stream` that lie in the parts [first, last].
  void note(tfile::StreamId stream, std::uint32_t first, std::uint32_t last);

  // Whether the stream was used in a visit that is not the present one of these parts; if not, it has no companions.
  bool was_used_before(tfile::StreamId stream, std::uint32_t first, std::uint32_t last) const;

  // The streams that were used in at least half of the last few visits in which `stream` was. Its present visits, those
  // to the parts [first, last], are not counted. So a stream that is no longer used with it drops out, and one that is
  // rarely used never comes in. Until one of them is used in the present visit, only streams that were used in all of
  // the last few count, since two random reads may fall into one visit. Sorted.
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

  // Readers of one job are not exactly in step, and one request may span parts, so this many parts may be visited at
  // once. At most half of all parts, or visits would never end, and all streams that are read at random would count as
  // used together.
  static constexpr std::uint32_t kOpenVisitsMax = 32;
  // Only the first parts of a longer request are noted: the other bits of a mask are for earlier visits.
  static constexpr std::uint32_t kPartsNoted = 16;
  // Enough to tolerate one part that was skipped, and few enough that a stream no longer used drops out soon.
  static constexpr int kVisitsCompared = 4;

  std::vector<PartVisit> open_;  // a new visit replaces the oldest
  Visit visits_ = 0;
  std::unordered_map<tfile::StreamId, Use> uses_;  // of the streams that were ever used
};

}  // namespace tfilefs
