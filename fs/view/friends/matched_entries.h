// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tfilefs {

// Entries of a friend that follow each other, and belong to entries of a table that do so, too.
struct EntryRun {
  std::int64_t entry = 0;         // the first one in the table
  std::int64_t friend_entry = 0;  // the first one in the friend
  std::int64_t before = 0;        // how many entries of the table before it have one of the friend
};

// Runs that are looked at together.
struct RunBlock {
  std::span<const EntryRun> runs;
  std::int64_t end = 0;  // how many entries before the next block have one of the friend
  std::int64_t count(std::size_t run) const {
    return (run + 1 < runs.size() ? runs[run + 1].before : end) - runs[run].before;
  }
};

// The entry of a friend that belongs to each entry of a table, if any does. Const.
class MatchedEntries {
 public:
  virtual ~MatchedEntries() = default;

  virtual std::int64_t entries() const = 0;  // of the table
  virtual std::int64_t matched() const = 0;  // of these, those that have one of the friend

  // Runs are looked at together: their places are read for each read of a column in them.
  static constexpr std::size_t kBlockRuns = 4096;
  virtual std::size_t block_count() const = 0;
  // `made`: where the runs are, unless they are there already.
  virtual RunBlock block(std::size_t number, std::vector<EntryRun>& made) const = 0;
  // The block that holds number `matched` of the entries that have one of the friend.
  virtual std::size_t block_of(std::int64_t matched) const = 0;

  // The entry of the friend, or -1.
  virtual std::int64_t friend_entry(std::int64_t entry) const = 0;
  // How many of the entries before this one have one of the friend.
  virtual std::int64_t matched_before(std::int64_t entry) const = 0;
};
using MatchedEntriesPtr = std::shared_ptr<const MatchedEntries>;

}  // namespace tfilefs
