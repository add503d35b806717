// SPDX-License-Identifier: Apache-2.0
#include "view/optional_rows.h"

#include <gtest/gtest.h>

#include <cstring>

#include "fs/view/array_table.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ColumnId;
using tfile::Role;

// Six rows in lists of 0 or 1: [a] [] [b] [] [] [c]. Their items are in such lists again: a has one, b none, c one.
struct OptionalRig : TableRig {
  OptionalRig() : TableRig(std::make_shared<ArrayTable>()) {
    add<std::int64_t>("outer.i8", {0, 1, 1, 2, 2, 2, 3});
    add<std::int64_t>("inner.i8", {0, 1, 1, 2});
    add<std::int16_t>("short.i2", {10, 20, 30});
    add<std::int16_t>("inner_short.i2", {7, 9});
    add<char>("flag.b1", {1, 0, 1});
    add<std::int64_t>("lists.i8", {0, 4, 4, 6});
    add<std::int64_t>("twice.i8", {0, 2, 2});
  }
  template <class T>
  void add(const std::string& name, const std::vector<T>& items) {
    table->column<T>(0, name, Role::values, items);
  }
  const Column& column(ColumnId id) const { return table->columns[id]; }
  OptionalRows outer() const {
    OptionalRows rows{6, {}};
    rows.step_into(column(0), 6);
    return rows;
  }
  OptionalRows both(std::int64_t inner_lists = 3) const {
    OptionalRows rows = outer();
    rows.step_into(column(1), inner_lists);
    return rows;
  }

  template <class Add>
  std::string bytes(Add add) const {
    Segments segments;
    add(segments);
    const auto content = segment_content(streams, std::move(segments));
    return content_bytes(*content, 0, content->size());
  }
};

template <class T>
std::vector<T> numbers(const std::string& bytes) {
  std::vector<T> made(bytes.size() / sizeof(T));
  std::memcpy(made.data(), bytes.data(), bytes.size());
  return made;
}

TEST(OptionalRows, SayWhoIsThere) {
  const OptionalRig rig;
  EXPECT_EQ(rig.bytes([&](Segments& to) { add_presence(to, rig.outer()); }), "\x25");
  EXPECT_EQ(rig.bytes([&](Segments& to) { add_presence(to, rig.both()); }), "\x21");
  EXPECT_EQ(numbers<std::int64_t>(rig.bytes([&](Segments& to) { add_item_numbers(to, rig.outer()); })),
            (std::vector<std::int64_t>{0, -1, 1, -1, -1, 2}));
}

TEST(OptionalRows, HaveAPlaceForEachItem) {
  const OptionalRig rig;
  EXPECT_EQ(numbers<std::int16_t>(rig.bytes([&](Segments& to) { add_rows(to, rig.outer(), rig.column(2)); })),
            (std::vector<std::int16_t>{10, 0, 20, 0, 0, 30}));
  EXPECT_EQ(numbers<std::int16_t>(rig.bytes([&](Segments& to) { add_rows(to, rig.both(), rig.column(3)); })),
            (std::vector<std::int16_t>{7, 0, 0, 0, 0, 9}));
  EXPECT_EQ(rig.bytes([&](Segments& to) { add_bit_rows(to, rig.outer(), rig.column(4)); }), "\x21");
  EXPECT_EQ(numbers<std::int64_t>(rig.bytes([&](Segments& to) { add_row_offsets(to, rig.outer(), rig.column(5)); })),
            (std::vector<std::int64_t>{0, 4, 4, 4, 4, 4, 6}));
}

TEST(OptionalRows, WithoutOptionalsAreTheItems) {
  const OptionalRig rig;
  EXPECT_EQ(numbers<std::int16_t>(rig.bytes([&](Segments& to) {
              add_rows(to, {2, {}}, rig.column(2));
            })),
            (std::vector<std::int16_t>{10, 20}));
}

TEST(OptionalRows, HaveNoItemBeyondTheLast) {
  const OptionalRig rig;
  OptionalRows rows = rig.outer();
  rows.items = 2;
  EXPECT_EQ(rig.bytes([&](Segments& to) { add_presence(to, rows); }), "\x05");
  EXPECT_EQ(numbers<std::int16_t>(rig.bytes([&](Segments& to) { add_rows(to, rows, rig.column(2)); })),
            (std::vector<std::int16_t>{10, 0, 20, 0, 0, 0}));
  EXPECT_EQ(numbers<std::int64_t>(rig.bytes([&](Segments& to) { add_row_offsets(to, rows, rig.column(5)); })),
            (std::vector<std::int64_t>{0, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(rig.bytes([&](Segments& to) { add_presence(to, rig.both(2)); }), "\x01");
}

TEST(OptionalRows, RefuseLongerLists) {
  const OptionalRig rig;
  OptionalRows rows{2, {}};
  rows.step_into(rig.column(6), 2);
  EXPECT_EQ(rig.bytes([&](Segments& to) { add_rows(to, rows, rig.column(2)); }),
            "error: offsets of lists of 0 or 1 contradict each other: 2 after 0");
}

TEST(OptionalRows, OfManyPieces) {
  TableRig rig(std::make_shared<ArrayTable>(5000));
  constexpr std::int64_t kRows = 200'000;  // several pieces per array
  std::vector<std::int64_t> offsets{0};
  std::vector<double> items, expected;
  for (std::int64_t row = 0; row < kRows; ++row) {
    const bool has_item = row % 3 != 1;
    if (has_item) items.push_back(static_cast<double>(row));
    expected.push_back(has_item ? static_cast<double>(row) : 0);
    offsets.push_back(std::ssize(items));
  }
  rig.table->column<std::int64_t>(0, "offsets.i8", Role::values, offsets);
  rig.table->column<double>(0, "x.f8", Role::values, items);
  OptionalRows rows{kRows, {}};
  rows.step_into(rig.table->columns[0], kRows);
  Segments segments;
  add_rows(segments, rows, rig.table->columns[1]);
  add_row_offsets(segments, rows, rig.table->columns[0]);
  const auto content = segment_content(rig.streams, std::move(segments));
  ASSERT_EQ(content->size(), static_cast<std::uint64_t>(16 * kRows + 8));
  EXPECT_EQ(numbers<double>(content_bytes(*content, 0, 8 * kRows)), expected);
  EXPECT_EQ(numbers<std::int64_t>(content_bytes(*content, 16 * kRows, 8)), std::vector{offsets[items.size()]});
}

}  // namespace
}  // namespace tfilefs
