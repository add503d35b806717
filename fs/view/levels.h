// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tfile/result.h"
#include "tfile/table.h"

namespace tfilefs {

// How Parquet represents lists: each value, and each place where a value is missing, has a repetition level (which list
// goes on with it) and a definition level (how many of the steps from the entry to the value exist). Both are made from
// offsets, step by step.
struct LevelStep {
  enum class Kind : std::uint8_t {
    list,      // the items of a list
    optional,  // the one item of a list, or none
    fixed,     // `number` items, always
    nullable,  // the item itself, if it is one of the first `number`
    date,      // the last step: the item itself, if it is a date; known from the values alone
  };
  Kind kind = Kind::list;
  tfile::ColumnId offsets = 0;  // for list, optional
  std::int64_t number = 0;      // of a list: the sum of the items of all lists
  bool is_counted = false;      // `offsets` is a column of the lists' sizes instead
  bool with_next = false;       // missing when the next step is: the two share one level
  friend auto operator<=>(const LevelStep&, const LevelStep&) = default;

  bool has_offsets() const { return kind == Kind::list || kind == Kind::optional; }
  bool repeats() const { return kind == Kind::list || kind == Kind::fixed; }
};

// The offsets of one step that has any: those of the lists from number `first` on, and one more.
struct OffsetsWindow {
  std::int64_t first = 0;
  std::vector<std::int64_t> offsets;
};

// The steps to a leaf, with windows of the offsets for some entries: windows[i] for steps[i], empty if it has none. Of
// dates: offsets of lists of 0 or 1, which places_of() does not need.
struct Levels {
  std::span<const LevelStep> steps;
  std::span<const OffsetsWindow> windows;
};

// The number of places of one entry: its values, and those that are missing. The windows must hold what the entry
// needs.
std::int64_t places_of(const Levels&, std::int64_t entry);

// Bytes of the levels of a page with this many places; 0 for a leaf that is never missing.
std::uint64_t levels_size(std::span<const LevelStep>, std::int64_t places);

// Writes those bytes, for entries [begin, end): repetition levels, then definition levels, each bit-packed in one run
// behind its size. Error: damaged (the offsets give another number of places).
tfile::Result<void> write_levels(const Levels&, std::int64_t begin, std::int64_t end, std::int64_t places,
                                 std::span<char> to);

// Whether the offsets never decrease and stay within [0, limit].
bool are_offsets_sound(std::span<const std::int64_t>, std::int64_t limit);

}  // namespace tfilefs
