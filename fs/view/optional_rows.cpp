// SPDX-License-Identifier: Apache-2.0
#include "view/optional_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>

namespace tfilefs {
namespace {

using tfile::Column;

// Most bits and rows of a piece; rows are a multiple of 8.
constexpr std::uint64_t kPieceBits = 1 << 21, kPieceRows = 1 << 15;

std::uint64_t rows_in_piece(std::uint64_t bits_a_row) {
  return std::clamp<std::uint64_t>(kPieceBits / std::max<std::uint64_t>(1, bits_a_row) / 8 * 8, 8, kPieceRows);
}

std::int64_t integer_at(std::string_view bytes, std::size_t i) {
  std::int64_t number = 0;
  std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
  return number;
}
std::size_t integers_in(std::string_view bytes) { return bytes.size() / sizeof(std::int64_t); }

// Reads offsets level by level: the position of a level's offsets is known from the level before.
class RowTransform : public Transform {
 public:
  // `of`: the columns of the items, if they are needed.
  RowTransform(OptionalRows rows, std::span<const Column* const> of, std::uint64_t piece_rows)
      : rows_(std::move(rows)), piece_rows_(static_cast<std::int64_t>(piece_rows)) {
    for (const Column* column : of) items_.push_back(range_of_items(*column, 0, 0));
  }
  RowTransform(OptionalRows rows, const Column* of, std::uint64_t piece_rows)
      : RowTransform(std::move(rows), std::span(&of, of ? 1 : 0), piece_rows) {}

  std::vector<ColumnRange> inputs(std::uint64_t piece) const override {
    const Between rows = rows_of(piece);
    if (rows_.lists.empty()) return items_between(rows);
    return {offsets_of(0, rows)};
  }

  Result<std::vector<ColumnRange>> more_inputs(std::uint64_t, std::span<const std::string_view> inputs) const override {
    const std::size_t levels = rows_.lists.size();
    if (inputs.size() > levels || levels == 0) return std::vector<ColumnRange>();
    TRY(const Between items, between_ends(inputs.back()));
    if (inputs.size() == levels) return items_between(items);
    return std::vector{offsets_of(inputs.size(), items)};
  }

  Result<void> make(std::uint64_t piece, std::span<const std::string_view> inputs, std::span<char> to) const override {
    const Between rows = rows_of(piece);
    std::vector<std::int64_t> positions(static_cast<std::size_t>(rows.last - rows.first + 1));
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = rows.first + static_cast<std::int64_t>(i);
    for (std::size_t level = 0; level < rows_.lists.size(); ++level) {
      clip(positions, rows_.lists[level].count);
      const std::int64_t first = positions.front();
      for (std::int64_t& position : positions) {
        const auto at = static_cast<std::size_t>(position - first);
        if (at >= integers_in(inputs[level])) return not_optional(first, position);
        position = integer_at(inputs[level], at);
      }
      for (std::size_t i = 1; i < positions.size(); ++i)
        if (positions[i] < positions[i - 1] || positions[i] > positions[i - 1] + 1)
          return not_optional(positions[i - 1], positions[i]);
    }
    clip(positions, rows_.items);
    return fill(positions, inputs.subspan(rows_.lists.size()), to);
  }

 protected:
  // positions[i]: the item of the piece's i-th row, or that of the next row if it has none; with one more at the end.
  // `items`: of each column, the items from positions[0] on.
  virtual Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view> items,
                            std::span<char> to) const = 0;
  // How many items are needed behind that of the last row.
  virtual std::int64_t items_beyond() const { return 0; }

  static bool has_item(std::span<const std::int64_t> positions, std::size_t row) {
    return positions[row + 1] > positions[row];
  }
  // Calls use(row, item) for each row that has an item; items count from positions[0].
  static void for_each_item(std::span<const std::int64_t> positions, auto&& use) {
    for (std::size_t row = 0, item = 0; row + 1 < positions.size(); ++row)
      if (has_item(positions, row)) use(row, item++);
  }
  static void set_bit(std::span<char> to, std::size_t bit) {
    to[bit / 8] = static_cast<char>(to[bit / 8] | 1 << bit % 8);
  }

 private:
  struct Between {
    std::int64_t first, last;
  };
  static tl::unexpected<Error> not_optional(std::int64_t begin, std::int64_t end) {
    return tfile::fail(ErrorKind::damaged, "offsets of lists of 0 or 1 contradict each other: " + std::to_string(end) +
                                               " after " + std::to_string(begin));
  }

  Between rows_of(std::uint64_t piece) const {
    const std::int64_t first = static_cast<std::int64_t>(piece) * piece_rows_;
    return {std::min(first, rows_.count), std::min(first + piece_rows_, rows_.count)};
  }
  Result<Between> between_ends(std::string_view offsets) const {
    if (integers_in(offsets) == 0)
      return tfile::fail(ErrorKind::damaged,
                         "lists of 0 or 1 have " + std::to_string(offsets.size()) + " bytes of offsets");
    const Between items{integer_at(offsets, 0), integer_at(offsets, integers_in(offsets) - 1)};
    if (items.first < 0 || items.last < items.first || items.last - items.first > piece_rows_)
      return not_optional(items.first, items.last);
    return items;
  }
  // Positions beyond the last item become its end: there are no items.
  static void clip(std::span<std::int64_t> positions, std::int64_t count) {
    for (std::int64_t& position : positions) position = std::min(position, count);
  }
  ColumnRange offsets_of(std::size_t level, Between lists) const {
    const std::int64_t count = rows_.lists[level].count;
    return range_of(rows_.lists[level].offsets, std::min(lists.first, count), std::min(lists.last, count) + 1);
  }
  std::vector<ColumnRange> items_between(Between items) const {
    std::vector<ColumnRange> ranges;
    for (const ColumnRange& column : items_)
      ranges.push_back(
          range_of(column, std::min(items.first, rows_.items), std::min(items.last, rows_.items) + items_beyond()));
    return ranges;
  }
  static ColumnRange range_of(ColumnRange range, std::int64_t first, std::int64_t end) {
    range.offset = static_cast<std::uint64_t>(first) * range.item_size;
    range.size = static_cast<std::uint64_t>(end - first) * range.item_size;
    return range;
  }

  const OptionalRows rows_;
  const std::int64_t piece_rows_;
  std::vector<ColumnRange> items_;
};

class Presence final : public RowTransform {
 public:
  explicit Presence(const OptionalRows& rows) : RowTransform(rows, nullptr, rows_in_piece(1)) {}

 private:
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view>,
                    std::span<char> to) const override {
    for_each_item(positions, [&](std::size_t row, std::size_t) { set_bit(to, row); });
    return {};
  }
};

class Rows final : public RowTransform {
 public:
  Rows(const OptionalRows& rows, const Column& column)
      : RowTransform(rows, &column, rows_in_piece(8 * column.item_size())), item_size_(column.item_size()) {}

 private:
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view> items,
                    std::span<char> to) const override {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      std::memcpy(to.data() + row * item_size_, items[0].data() + item * item_size_, item_size_);
    });
    return {};
  }
  const std::size_t item_size_;
};

class BitRows final : public RowTransform {
 public:
  BitRows(const OptionalRows& rows, const Column& column)
      : RowTransform(rows, &column, rows_in_piece(column.item_size())), numbers_(column.item_size()) {}

 private:
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view> items,
                    std::span<char> to) const override {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      for (std::size_t i = 0; i < numbers_; ++i)
        if (items[0][item * numbers_ + i] != 0) set_bit(to, row * numbers_ + i);
    });
    return {};
  }
  const std::size_t numbers_;
};

class RowOffsets final : public RowTransform {
 public:
  RowOffsets(const OptionalRows& rows, const Column& offsets) : RowTransform(rows, &offsets, rows_in_piece(64)) {}

 private:
  std::int64_t items_beyond() const override { return 1; }
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view> items,
                    std::span<char> to) const override {
    for (std::size_t i = 0; i < to.size() / sizeof(std::int64_t); ++i) {
      const std::int64_t offset = integer_at(items[0], static_cast<std::size_t>(positions[i] - positions[0]));
      std::memcpy(to.data() + i * sizeof offset, &offset, sizeof offset);
    }
    return {};
  }
};

class ItemNumbers final : public RowTransform {
 public:
  explicit ItemNumbers(const OptionalRows& rows) : RowTransform(rows, nullptr, rows_in_piece(64)) {}

 private:
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view>,
                    std::span<char> to) const override {
    for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
      const std::int64_t number = has_item(positions, i) ? positions[i] : -1;
      std::memcpy(to.data() + i * sizeof number, &number, sizeof number);
    }
    return {};
  }
};

// The dates as integers of eight bytes; 0 for what is none.
class DateRows final : public RowTransform {
 public:
  DateRows(const OptionalRows& rows, const DateColumns& columns)
      : RowTransform(rows, columns.columns, rows_in_piece(64)), kind_(columns.kind) {}

 private:
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view> items,
                    std::span<char> to) const override {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      const std::int64_t date = date_at(kind_, items, item).value_or(0);
      std::memcpy(to.data() + row * sizeof date, &date, sizeof date);
    });
    return {};
  }
  const tfile::DateKind kind_;
};

class DatePresence final : public RowTransform {
 public:
  DatePresence(const OptionalRows& rows, const DateColumns& columns)
      : RowTransform(rows, columns.columns, rows_in_piece(32)), kind_(columns.kind) {}

 private:
  Result<void> fill(std::span<const std::int64_t> positions, std::span<const std::string_view> items,
                    std::span<char> to) const override {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      if (date_at(kind_, items, item)) set_bit(to, row);
    });
    return {};
  }
  const tfile::DateKind kind_;
};

std::uint64_t bytes_of_rows(std::int64_t rows, std::uint64_t bits_a_row) {
  return (static_cast<std::uint64_t>(rows) * bits_a_row + 7) / 8;
}

template <class T, class... Columns>
void add(Segments& to, const OptionalRows& rows, std::int64_t outputs, std::uint64_t bits_a_row,
         const Columns&... columns) {
  to.add_pieces(std::make_shared<T>(rows, columns...), rows_in_piece(bits_a_row) * bits_a_row / 8,
                bytes_of_rows(outputs, bits_a_row));
}

}  // namespace

void OptionalRows::step_into(const Column& offsets, std::int64_t lists_count) {
  lists.push_back({range_of_items(offsets, 0, 0), lists_count});
}

void add_presence(Segments& to, const OptionalRows& rows) { add<Presence>(to, rows, rows.count, 1); }
void add_rows(Segments& to, const OptionalRows& rows, const Column& column) {
  add<Rows>(to, rows, rows.count, 8 * column.item_size(), column);
}
void add_bit_rows(Segments& to, const OptionalRows& rows, const Column& column) {
  add<BitRows>(to, rows, rows.count, column.item_size(), column);
}
void add_row_offsets(Segments& to, const OptionalRows& rows, const Column& offsets) {
  add<RowOffsets>(to, rows, rows.count + 1, 64, offsets);
}
void add_dates(Segments& to, const OptionalRows& rows, const DateColumns& columns) {
  add<DateRows>(to, rows, rows.count, 64, columns);
}
void add_date_presence(Segments& to, const OptionalRows& rows, const DateColumns& columns) {
  to.add_pieces(std::make_shared<DatePresence>(rows, columns), rows_in_piece(32) / 8, bytes_of_rows(rows.count, 1));
}
void add_item_numbers(Segments& to, const OptionalRows& rows) { add<ItemNumbers>(to, rows, rows.count, 64); }

}  // namespace tfilefs
