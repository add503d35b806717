// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tfile/result.h"
#include "tfile/table.h"

namespace tfilefs {

// How Parquet tells lists: each value, and each place where a value is missing, has a repetition level (which list goes
// on with it) and a definition level (how much of the way from the entry to the value is there). Both are made from
// offsets, step by step along that way.
struct LevelStep {
  enum class Kind : std::uint8_t {
    list,      // the items of a list
    optional,  // the one item of a list, or none
    fixed,     // `number` items, always
    nullable,  // itself, if it is one of the first `number`
  };
  Kind kind = Kind::list;
  tfile::ColumnId offsets = 0;  // of list, optional
  std::int64_t number = 0;      // of a list: how many items all of them have
  bool is_counted = false;      // `offsets` is a column of the lists' sizes instead
  bool with_next = false;       // is missing as the next step is: they are one level
  friend auto operator<=>(const LevelStep&, const LevelStep&) = default;

  bool has_offsets() const { return kind == Kind::list || kind == Kind::optional; }
  bool repeats() const { return kind == Kind::list || kind == Kind::fixed; }
};

// The offsets of one step that has any: those of the lists from number `first` on, and one more.
struct OffsetsWindow {
  std::int64_t first = 0;
  std::vector<std::int64_t> offsets;
};

// The way to a leaf, with windows of the offsets for some entries: windows[i] for steps[i], empty where it has none.
struct Levels {
  std::span<const LevelStep> steps;
  std::span<const OffsetsWindow> windows;
};

// Places of one entry: its values, and what stands for those that are missing. The windows hold what the entry needs.
std::int64_t places_of(const Levels&, std::int64_t entry);

// Bytes of the levels of a page with so many places; none for a leaf that is always there.
std::uint64_t levels_size(std::span<const LevelStep>, std::int64_t places);

// Those bytes, for entries [begin, end): repetition levels, then definition levels, each bit-packed in one run behind
// its size. Error: damaged (the offsets give another number of places).
tfile::Result<void> write_levels(const Levels&, std::int64_t begin, std::int64_t end, std::int64_t places,
                                 std::span<char> to);

// Whether the offsets never go back and stay within [0, limit].
bool are_offsets_sound(std::span<const std::int64_t>, std::int64_t limit);

}  // namespace tfilefs
