// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <span>
#include <vector>

#include "tfile/range.h"

namespace tfile {

// The entries of a table that a copy keeps: ranges, ascending and apart from each other. Kept entries are numbered one
// after the other, as the copy has them. Takes 24 bytes for each range.
class KeptEntries {
 public:
  KeptEntries() = default;
  explicit KeptEntries(EntryRange range) { add(range); }
  explicit KeptEntries(std::span<const EntryRange> ranges);

  // Adds a range behind those that are there. If it adjoins the last one, they are joined; an empty one adds nothing.
  void add(EntryRange);

  std::int64_t count() const { return ranges_.empty() ? 0 : before_.back() + ranges_.back().size(); }
  const std::vector<EntryRange>& ranges() const { return ranges_; }
  // The number of kept entries before this one.
  std::int64_t before(std::int64_t entry) const;
  // Those of the kept entries with numbers [begin, end).
  std::vector<EntryRange> numbered(EntryRange) const;
  // Those among [begin, end), counted from `begin`.
  KeptEntries within(EntryRange) const;
  // Whether these are the first `entries` entries, all of them.
  bool is_all(std::int64_t entries) const { return count() == entries && before(entries) == entries; }

 private:
  std::vector<EntryRange> ranges_;
  std::vector<std::int64_t> before_;  // the number of kept entries before each range
};

}  // namespace tfile
