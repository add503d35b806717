// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "tfile/table.h"

namespace tfilefs {

// A number as a part of a key. Equal numbers of any types are equal parts, and others are not: no type can hold i8, u8
// and f8. The order of parts is only good for finding them.
struct KeyPart {
  enum class Kind : std::uint8_t {
    whole,  // what an i8 holds
    above,  // what only a u8 holds; `bits` are its own
    real,   // what only an f8 holds: fractions, infinities, what is beyond both; `bits` are its own
    none,   // no number: equals nothing, not itself either
  };
  std::int64_t bits = 0;
  Kind kind = Kind::whole;

  static KeyPart of(std::int64_t number) { return {number, Kind::whole}; }
  static KeyPart of(std::uint64_t number);
  // A fraction that only a long double holds, as an expression may give it, is rounded.
  static KeyPart of(long double number);
  // As a stored index has it, whose numbers are i8: fractions are cut, and what is beyond the type is in none.
  static KeyPart cut(long double number);
};

// The values by which entries of two tables are matched.
struct EntryKey {
  KeyPart major, minor;
};

// The entries of a table by their keys.
class KeyIndex {
 public:
  // The size of an entry in it.
  static constexpr std::uint64_t kEntrySize = 3 * sizeof(std::int64_t);

  KeyIndex() = default;
  // As stored: it is looked up in its own order, in whatever order it is.
  explicit KeyIndex(const tfile::EntryIndex&);

  void reserve(std::size_t entries) { entries_.reserve(entries); }
  void add(const EntryKey& key);
  void sort();  // once all are added; of equal keys the first entry comes first

  // The first entry with this key, or -1. `behind`: where the last key was found, since the next one often follows it.
  std::int64_t find(const EntryKey&, std::size_t& behind) const;

 private:
  struct Key {
    std::int64_t major = 0, minor = 0;
    std::uint64_t kinds = 0;  // of both parts, in the highest bits
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    std::int64_t major = 0, minor = 0;
    std::uint64_t kinds_and_entry = 0;
    Key key() const;
    std::int64_t entry() const;
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  static_assert(sizeof(Entry) == kEntrySize);
  static Key key_of(const EntryKey&);
  static Entry entry_of(const Key&, std::int64_t entry);

  std::vector<Entry> entries_;
  std::int64_t added_ = 0;
};

// Numbers of a column as parts of keys. `cuts`: for a stored index.
void add_as_parts(std::span<const std::byte> numbers, tfile::Dtype, bool cuts, std::vector<KeyPart>& into);
// The same numbers, for expressions.
void add_as_numbers(std::span<const std::byte> numbers, tfile::Dtype, std::vector<long double>& into);

}  // namespace tfilefs
