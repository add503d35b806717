// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tfilefs {

// Entries of a friend that follow each other, and belong to entries of a table that do so, too.
struct EntryRun {
  std::int64_t entry = 0;         // the first one in the table
  std::int64_t friend_entry = 0;  // the first one in the friend
  std::int64_t before = 0;        // how many entries of the table before it have one of the friend
};

// Entries of a friend that belong to those of a table from one on, up to the next part.
struct EntryPart {
  std::int64_t entry = 0;         // the table's first one
  std::int64_t friend_entry = 0;  // the friend's first one
  std::int64_t count = 0;         // of the friend's
};

// Which entry of a friend belongs to each entry of a table, if any does.
class EntryRuns {
 public:
  explicit EntryRuns(std::int64_t entries = 0) : entries_(entries) {}
  // Parts in ascending order. In each, entry belongs to entry; what is left over belongs to none.
  static EntryRuns by_position(std::int64_t entries, std::span<const EntryPart>);

  // Entries in ascending order, each once.
  void add(std::int64_t entry, std::int64_t friend_entry, std::int64_t count = 1);

  std::int64_t entries() const { return entries_; }  // of the table
  std::int64_t matched() const { return matched_; }  // of these, those that have one of the friend
  std::span<const EntryRun> runs() const { return runs_; }
  std::uint64_t memory() const { return runs_.capacity() * sizeof(EntryRun); }
  std::int64_t count(std::size_t run) const {
    return (run + 1 < runs_.size() ? runs_[run + 1].before : matched_) - runs_[run].before;
  }

  // The entry of the friend, or -1.
  std::int64_t friend_entry(std::int64_t entry) const;
  // Whether an entry that has none of the friend lies before one that has.
  bool has_gap() const;
  // How many of the entries before this one have one of the friend.
  std::int64_t matched_before(std::int64_t entry) const;
  // The run that holds number `matched` of the entries that have one of the friend.
  std::size_t run_of(std::int64_t matched) const;

 private:
  std::size_t run_at(std::int64_t entry) const;  // the last one that does not begin behind it; SIZE_MAX: none

  std::int64_t entries_ = 0, matched_ = 0;
  std::vector<EntryRun> runs_;
};

}  // namespace tfilefs
