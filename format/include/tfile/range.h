// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>

namespace tfile {

// Three kinds of half-open ranges that must not be mixed up: bytes of a source, entries (rows) of a table, and items of
// one column at its own depth.

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t end() const { return begin + size; }
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct EntryRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const EntryRange&, const EntryRange&) = default;
};

struct ItemRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const ItemRange&, const ItemRange&) = default;
};

}  // namespace tfile
