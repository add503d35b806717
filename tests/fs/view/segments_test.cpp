// SPDX-License-Identifier: Apache-2.0
#include "view/segments.h"

#include <gtest/gtest.h>

#include <limits>

#include "fs/view/array_table.h"

namespace tfilefs {
namespace {

using tfile::Role;

// The bytes of a column, each incremented by one.
class PlusOne : public Transform {
 public:
  PlusOne(ColumnRange column, std::uint64_t piece_size) : column_(column), piece_size_(piece_size) {}
  std::vector<ColumnRange> inputs(std::uint64_t piece) const override {
    ColumnRange range = column_;
    range.offset += piece * piece_size_;
    range.size = std::min(piece_size_, column_.size - piece * piece_size_);
    return {range};
  }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    if (inputs[0].size() != to.size()) return tfile::fail(ErrorKind::damaged, "sizes differ");
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<char>(inputs[0][i] + 1);
    return {};
  }

 private:
  const ColumnRange column_;
  const std::uint64_t piece_size_;
};

// The sum of one byte that is requested many times.
class SumOfMany : public Transform {
 public:
  SumOfMany(ColumnRange byte, std::size_t times) : byte_(byte), times_(times) {}
  std::vector<ColumnRange> inputs(std::uint64_t) const override { return std::vector(times_, byte_); }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    for (const std::string_view input : inputs) to[0] = static_cast<char>(to[0] + input.at(0));
    return {};
  }

 private:
  const ColumnRange byte_;
  const std::size_t times_;
};

struct LettersRig : TableRig {
  LettersRig() : TableRig(std::make_shared<ArrayTable>()) {
    table->column<char>(0, "a.u1", Role::values, {'a', 'b', 'c', 'd', 'e', 'f', 'g'});
    table->column<char>(0, "k.u1", Role::values, {'k', 'l', 'm', 'n'});
  }
  ColumnRange range(tfile::ColumnId id, std::int64_t first, std::int64_t count) const {
    return range_of_items(table->columns[id], first, count);
  }
};

void expect_bytes_at_any_offset(Content& content, const std::string& all) {
  ASSERT_EQ(content.size(), all.size());
  for (std::size_t offset = 0; offset <= all.size() + 1; ++offset)
    for (std::size_t size = 1; size <= all.size() + 1; ++size)
      ASSERT_EQ(content_bytes(content, offset, size), offset < all.size() ? all.substr(offset, size) : "")
          << offset << " " << size;
}

TEST(Segments, AreReadFromAnyOffset) {
  LettersRig rig;
  Segments segments;
  segments.add_bytes("head");
  segments.add_bytes("er");
  segments.align(8);
  segments.add_column(rig.range(0, 1, 5));
  segments.add_pieces(std::make_shared<PlusOne>(rig.range(0, 0, 7), 3), 3, 7);
  segments.add_fill(0, 0);
  segments.add_column(rig.range(1, 2, 2));
  segments.add_fill('!', 2);
  const auto whole = segments.add_transform(std::make_shared<PlusOne>(rig.range(1, 0, 4), 2));
  segments.add_piece(whole, 1, 2);
  segments.add_piece(whole, 0, 2);
  const auto content = segment_content(rig.streams, std::move(segments));
  expect_bytes_at_any_offset(*content, std::string("header\0\0bcdefbcdefghmn!!", 24) + "no" + "lm");
}

TEST(Segments, AreAppended) {
  LettersRig rig;
  Segments first, second;
  first.add_bytes("1");
  first.add_column(rig.range(0, 0, 2));
  first.add_pieces(std::make_shared<PlusOne>(rig.range(0, 0, 2), 9), 9, 2);
  second.add_bytes("2");
  second.add_column(rig.range(1, 0, 2));
  second.add_pieces(std::make_shared<PlusOne>(rig.range(1, 0, 2), 9), 9, 2);
  second.add_fill('.', 1);
  first.append(std::move(second));
  expect_bytes_at_any_offset(*segment_content(rig.streams, std::move(first)), "1abbc2kllm.");
}

TEST(Segments, DamageStaysWithItsBytes) {
  LettersRig rig;
  Segments segments;
  segments.add_column(rig.range(1, 0, 9));  // there are only 4
  segments.add_bytes("tail");
  segments.add_pieces(std::make_shared<PlusOne>(rig.range(0, 5, 7), 9), 9, 3);
  const auto content = segment_content(rig.streams, std::move(segments));
  EXPECT_EQ(content_bytes(*content, 0, 4), "klmn");
  EXPECT_EQ(content_bytes(*content, 2, 4).substr(0, 6), "error:");
  EXPECT_EQ(content_bytes(*content, 8, 3).substr(0, 6), "error:");
  EXPECT_EQ(content_bytes(*content, 9, 4), "tail");
  EXPECT_EQ(content_bytes(*content, 10, 4).substr(0, 6), "error:");
}

TEST(Segments, TellTheMemoryThatTheyHold) {
  LettersRig rig;
  const auto memory_of = [&](Segments segments) { return segment_content(rig.streams, std::move(segments))->memory(); };
  Segments many_bytes, many_pieces, much_of_a_column;
  for (int i = 0; i < 1000; ++i) {
    many_bytes.add_bytes(std::string(100, 'x'));
    many_pieces.add_piece(many_pieces.add_transform(std::make_shared<PlusOne>(rig.range(0, 0, 7), 7)), 0, 7);
  }
  much_of_a_column.add_column(rig.range(0, 0, 7));
  much_of_a_column.add_fill('x', 1 << 30);
  EXPECT_GE(memory_of(many_bytes), 100'000u);
  EXPECT_GE(memory_of(many_pieces), 100'000u);
  EXPECT_LE(memory_of(much_of_a_column), 1'000u);
}

TEST(Segments, NeverExceedWhatAFileCanHold) {
  LettersRig rig;
  Segments segments;
  segments.add_column(rig.range(0, 0, std::numeric_limits<std::int64_t>::max()));
  EXPECT_FALSE(segments.is_too_large());
  segments.add_fill(0, 1);
  EXPECT_TRUE(segments.is_too_large());
  EXPECT_EQ(segments.size(), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

TEST(Segments, APieceThatTakesTooMuchIsRefused) {
  LettersRig rig;
  for (const std::size_t inputs : {3u, 5u}) {
    ColumnRange large = rig.range(0, 0, 1);
    large.size = Budget::kBeyondMax / 4;
    Segments segments;
    segments.add_pieces(std::make_shared<SumOfMany>(large, inputs), 1, 1);
    const auto content = segment_content(rig.streams, std::move(segments));
    const std::string error = content_bytes(*content, 0, 1);
    EXPECT_EQ(error.find("MB needed at once") != error.npos, inputs == 5) << error;
  }
}

TEST(Segments, ManyInputsThatAreThereTakeNoStack) {
  LettersRig rig;
  Segments segments;
  segments.add_pieces(std::make_shared<SumOfMany>(rig.range(0, 0, 1), 300'001), 1, 1);
  const auto content = segment_content(rig.streams, std::move(segments));
  EXPECT_EQ(content_bytes(*content, 0, 1), std::string(1, static_cast<char>('a' * 300'001)));
}

}  // namespace
}  // namespace tfilefs
