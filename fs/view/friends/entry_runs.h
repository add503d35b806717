// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "view/friends/matched_entries.h"

namespace tfilefs {

// Entries of a friend that belong to those of a table from one on, up to the next part.
struct EntryPart {
  std::int64_t entry = 0;         // the table's first one
  std::int64_t friend_entry = 0;  // the friend's first one
  std::int64_t count = 0;         // of the friend's
};

// The runs themselves, as they were found.
class EntryRuns final : public MatchedEntries {
 public:
  explicit EntryRuns(std::int64_t entries = 0) : entries_(entries) {}
  // Parts in ascending order. In each, entry belongs to entry; what is left over belongs to none.
  static EntryRuns by_position(std::int64_t entries, std::span<const EntryPart>);

  // Entries in ascending order, each once.
  void add(std::int64_t entry, std::int64_t friend_entry, std::int64_t count = 1);

  std::int64_t entries() const override { return entries_; }
  std::int64_t matched() const override { return matched_; }
  std::size_t block_count() const override { return (runs_.size() + kBlockRuns - 1) / kBlockRuns; }
  RunBlock block(std::size_t number, std::vector<EntryRun>& made) const override;
  std::size_t block_of(std::int64_t matched) const override { return run_of(matched) / kBlockRuns; }
  std::span<const EntryRun> runs() const { return runs_; }
  std::uint64_t memory() const { return runs_.capacity() * sizeof(EntryRun); }
  std::int64_t count(std::size_t run) const {
    return (run + 1 < runs_.size() ? runs_[run + 1].before : matched_) - runs_[run].before;
  }

  std::int64_t friend_entry(std::int64_t entry) const override;
  // Whether an entry that has none of the friend lies before one that has.
  bool has_gap() const;
  std::int64_t matched_before(std::int64_t entry) const override;
  // The run that holds number `matched` of the entries that have one of the friend.
  std::size_t run_of(std::int64_t matched) const;

 private:
  std::size_t run_at(std::int64_t entry) const;  // the last one that does not begin behind it; SIZE_MAX: none

  std::int64_t entries_ = 0, matched_ = 0;
  std::vector<EntryRun> runs_;
};

}  // namespace tfilefs
