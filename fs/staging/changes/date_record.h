// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "staging/journal/journal_record.h"
#include "staging/overlay/staged_node.h"
#include "wall_clock.h"

namespace tfilefs {

// The record of the date that was set on a node, or that there is none. The node's file guards it.
inline JournalRecord date_record(const StagedNode& node) {
  const timespec& date = node.attributes.modified;
  JournalRecord record;
  record.kind = JournalKind::date;
  record.id = node.id;
  // Nanoseconds reach 292 years from 1970 to either side; dates beyond that are not kept.
  constexpr std::int64_t kSecondsMax = INT64_MAX / kNanoseconds - 1;
  const bool is_kept = node.attributes.time_was_set && date.tv_sec <= kSecondsMax && date.tv_sec >= -kSecondsMax;
  record.offset = is_kept ? static_cast<std::uint64_t>(nanoseconds_of(date)) : kNoDate;
  record.size = node.bytes ? node.bytes->size() : 0;
  return record;
}

inline timespec date_of(const JournalRecord& record) {
  const auto all = static_cast<std::int64_t>(record.offset);
  timespec date{all / kNanoseconds, all % kNanoseconds};
  if (date.tv_nsec < 0) date.tv_nsec += kNanoseconds, --date.tv_sec;
  return date;
}

}  // namespace tfilefs
