// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "format/ntuple/ntuple_image.h"

namespace tfile::test {

// Fills the clusters of ntuple_of_all_kinds.
class KindsFiller {
 public:
  ClusterImage cluster(std::uint64_t entries, bool with_late) {
    ClusterImage made;
    made.first_entry = first_entry_;
    made.entries = entries;
    made.columns.resize(with_late ? kColumns : kColumns - 1);
    elements_.resize(kColumns);
    fill_numbers(made, entries);
    fill_lists(made, entries);
    fill_variant(made, entries);
    if (with_late) {
      add_numbers<float>(made, kColumns - 1, entries);
      made.columns[kColumns - 1].first_element = static_cast<std::int64_t>(first_entry_);
    }
    first_entry_ += entries;
    return made;
  }

  static constexpr std::size_t kColumns = 18;

 private:
  void add(ClusterImage& to, std::size_t column, std::uint64_t elements, const LittleBytes& bytes) {
    ColumnPagesImage& pages = to.columns[column];
    if (pages.pages.empty() && elements_[column] > 0) pages.first_element = elements_[column];
    PageImage page;
    page.elements = static_cast<std::int32_t>(elements);
    page.bytes = bytes.all();
    pages.pages.push_back(std::move(page));
    elements_[column] += static_cast<std::int64_t>(elements);
  }
  template <class T>
  void add_numbers(ClusterImage& to, std::size_t column, std::uint64_t elements) {
    LittleBytes bytes;
    for (std::uint64_t i = 0; i < elements; ++i)
      bytes.put(static_cast<T>(elements_[column] + static_cast<std::int64_t>(i)));
    add(to, column, elements, bytes);
  }
  // Lists of `length` items each.
  template <class T>
  void add_ends(ClusterImage& to, std::size_t column, std::uint64_t lists, std::uint64_t length) {
    LittleBytes bytes;
    for (std::uint64_t i = 1; i <= lists; ++i) bytes.put(static_cast<T>(i * length));
    add(to, column, lists, bytes);
  }

  void fill_numbers(ClusterImage& to, std::uint64_t entries) {
    add_numbers<float>(to, 0, entries);
    // The first page ends inside an array.
    add_numbers<float>(to, 5, 2);
    add_numbers<float>(to, 5, 3 * entries - 2);
    LittleBytes bits;
    for (std::uint64_t i = 0; i < (5 * entries + 7) / 8; ++i) bits.put(static_cast<std::uint8_t>(0x5a + i));
    add(to, 6, 5 * entries, bits);
    add_numbers<double>(to, 10, entries);
    LittleBytes quantised;
    for (std::uint64_t i = 0; i < (7 * entries + 7) / 8; ++i) quantised.put(static_cast<std::uint8_t>(0x33 + i));
    add(to, 16, entries, quantised);
  }
  void fill_lists(ClusterImage& to, std::uint64_t entries) {
    add_ends<std::uint64_t>(to, 1, entries, 2);
    add_numbers<std::int32_t>(to, 2, 2 * entries);
    add_ends<std::uint32_t>(to, 3, entries, 1);
    add_numbers<char>(to, 4, entries);
    add_ends<std::uint64_t>(to, 11, entries, 1);
    add_ends<std::uint64_t>(to, 12, entries, 2);
    add_numbers<std::uint8_t>(to, 13, 2 * entries);
    add_ends<std::uint32_t>(to, 14, 2 * entries, 1);
    add_numbers<char>(to, 15, 2 * entries);
  }
  void fill_variant(ClusterImage& to, std::uint64_t entries) {
    LittleBytes bytes;
    std::uint64_t count[3] = {};
    for (std::uint64_t i = 0; i < entries; ++i) {
      const auto tag = static_cast<std::uint32_t>(i % 3);
      bytes.put(tag == 0 ? 0 : count[tag]).put(tag);
      ++count[tag];
    }
    add(to, 7, entries, bytes);
    add_numbers<std::int32_t>(to, 8, count[1]);
    add_numbers<double>(to, 9, count[2]);
  }

  std::uint64_t first_entry_ = 0;
  std::vector<std::int64_t> elements_;
};

// Nearly every kind of field that ROOT writes. Clusters of 3 and 2 entries in one group, and of 2 entries in another.
// `late` was added after the first cluster.
inline NtupleImage ntuple_of_all_kinds() {
  NtupleImage image;
  image.schema.fields = {
      {.name = "x", .type_name = "float"},
      {.name = "v", .type_name = "std::vector<std::int32_t>", .role = 1},
      {.name = "_0", .type_name = "std::int32_t", .parent = 1},
      {.name = "s", .type_name = "std::string"},
      {.name = "a", .type_name = "std::array<float,3>", .array_size = 3},
      {.name = "_0", .type_name = "float", .parent = 4},
      {.name = "bits", .type_name = "std::bitset<5>", .array_size = 5},
      {.name = "var", .type_name = "std::variant<std::int32_t,double>", .role = 3},
      {.name = "_0", .type_name = "std::int32_t", .parent = 7},
      {.name = "_1", .type_name = "double", .parent = 7},
      {.name = "rec", .type_name = "Record", .role = 2},
      {.name = "m", .type_name = "double", .parent = 10},
      {.name = "n", .type_name = "ROOT::RNTupleCardinality<std::uint32_t>", .projected_from = 1},
      {.name = "w", .type_name = "std::vector<std::vector<std::uint8_t>>", .role = 1},
      {.name = "_0", .type_name = "std::vector<std::uint8_t>", .parent = 13, .role = 1},
      {.name = "_0", .type_name = "std::uint8_t", .parent = 14},
      {.name = "words", .type_name = "std::array<std::string,2>", .array_size = 2},
      {.name = "_0", .type_name = "std::string", .parent = 16},
      {.name = "q", .type_name = "double"},
  };
  image.schema.columns = {
      {0x0C, 32, 0},
      {0x0F, 64, 1},
      {0x07, 32, 2},
      {0x0E, 32, 3},
      {0x02, 8, 3},
      {0x0C, 32, 5},
      {0x00, 1, 6},
      {0x10, 96, 7},
      {0x07, 32, 8},
      {0x0D, 64, 9},
      {0x0D, 64, 11},
      {0x0F, 64, 13},
      {0x0F, 64, 14},
      {0x04, 8, 15},
      {0x0E, 32, 17},
      {0x02, 8, 17},
      {0x1D, 7, 18, 0, {}, std::pair(-1.0, 1.0)},
  };
  image.schema.aliases = {{1, 12}};
  image.extension.fields = {{.name = "late", .type_name = "float"}};
  image.extension.columns = {{0x0C, 32, 19, 0, 3}};
  KindsFiller filler;
  image.groups.resize(2);
  image.groups[0].clusters.push_back(filler.cluster(3, false));
  image.groups[0].clusters.push_back(filler.cluster(2, true));
  image.groups[1].clusters.push_back(filler.cluster(2, true));
  return image;
}

}  // namespace tfile::test
