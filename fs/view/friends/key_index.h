// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tfile/table.h"

namespace tfilefs {

// The values by which entries of two tables are matched. Numbers with fractions are cut, as ROOT does.
struct EntryKey {
  std::int64_t major = 0, minor = 0;
  friend auto operator<=>(const EntryKey&, const EntryKey&) = default;
};

// A number as a part of a key: fractions are cut. NaN is the smallest number; what is beyond the type is its end.
std::int64_t as_key(long double number);

// The entries of a table by their keys.
class KeyIndex {
 public:
  // What an entry takes in it.
  static constexpr std::uint64_t kEntrySize = 3 * sizeof(std::int64_t);

  KeyIndex() = default;
  // As stored: it is looked up in its own order, in whatever order it is.
  explicit KeyIndex(const tfile::EntryIndex&);

  void reserve(std::size_t entries) { entries_.reserve(entries); }
  void add(EntryKey key) { entries_.push_back({key, static_cast<std::int64_t>(entries_.size())}); }
  void sort();  // once all are added; of equal keys the first entry comes first

  // The first entry with this key, or -1. `behind`: where the last key was found, since the next one often follows it.
  std::int64_t find(EntryKey, std::size_t& behind) const;

 private:
  struct Entry {
    EntryKey key;
    std::int64_t entry = 0;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries_;
};

// Numbers of a column as keys; u8 wraps around.
void add_as_integers(std::span<const std::byte> numbers, tfile::Dtype, std::vector<std::int64_t>& into);
// The same numbers, exactly.
void add_as_numbers(std::span<const std::byte> numbers, tfile::Dtype, std::vector<long double>& into);

}  // namespace tfilefs
