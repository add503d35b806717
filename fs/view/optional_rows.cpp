// SPDX-License-Identifier: Apache-2.0
#include "view/optional_rows.h"

#include <algorithm>
#include <cstring>
#include <functional>
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

// positions[i]: the item of the piece's i-th row, or that of the next row if it has none; with one more at the end.
using Positions = std::span<const std::int64_t>;

// Fills a piece. `items`: of each column, the items from positions[0] on.
using Fill = std::function<void(Positions, std::span<const std::string_view> items, std::span<char> to)>;

bool has_item(Positions positions, std::size_t row) { return positions[row + 1] > positions[row]; }

// Calls use(row, item) for each row that has an item; items count from positions[0].
void for_each_item(Positions positions, auto&& use) {
  for (std::size_t row = 0, item = 0; row + 1 < positions.size(); ++row)
    if (has_item(positions, row)) use(row, item++);
}

void set_bit(std::span<char> to, std::size_t bit) { to[bit / 8] = static_cast<char>(to[bit / 8] | 1 << bit % 8); }

template <class T>
void put(std::span<char> to, std::size_t place, T number) {
  std::memcpy(to.data() + place * sizeof number, &number, sizeof number);
}

// Reads offsets level by level: the position of a level's offsets is known from the level before.
class RowTransform final : public Transform {
 public:
  // `of`: the columns of the items, if they are needed; of each, so many items `beyond` that of the last row.
  RowTransform(OptionalRows rows, const std::vector<const Column*>& of, std::int64_t beyond, std::uint64_t piece_rows,
               Fill fill)
      : rows_(std::move(rows)),
        beyond_(beyond),
        piece_rows_(static_cast<std::int64_t>(piece_rows)),
        fill_(std::move(fill)) {
    for (const Column* column : of) items_.push_back(range_of_items(*column, 0, 0));
  }

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
    fill_(positions, inputs.subspan(rows_.lists.size()), to);
    return {};
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
      return tfile::fail(ErrorKind::damaged, "lists of 0 or 1 have " + std::to_string(offsets.size()) +
                                                 " bytes of offsets, expected 8 or more");
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
          range_of(column, std::min(items.first, rows_.items), std::min(items.last, rows_.items) + beyond_));
    return ranges;
  }
  static ColumnRange range_of(ColumnRange range, std::int64_t first, std::int64_t end) {
    range.offset = static_cast<std::uint64_t>(first) * range.item_size;
    range.size = static_cast<std::uint64_t>(end - first) * range.item_size;
    return range;
  }

  const OptionalRows rows_;
  const std::int64_t beyond_, piece_rows_;
  const Fill fill_;
  std::vector<ColumnRange> items_;
};

std::uint64_t bytes_of_rows(std::int64_t rows, std::uint64_t bits_a_row) {
  return (static_cast<std::uint64_t>(rows) * bits_a_row + 7) / 8;
}

// A part that has so many bits for each row, in pieces that take `work` bits for each.
struct RowPart {
  std::uint64_t bits = 0, work = 0;
  std::int64_t beyond = 0;  // rows, and items behind that of the last row
};

void add(Segments& to, const OptionalRows& rows, const std::vector<const Column*>& of, RowPart part, Fill fill) {
  const std::uint64_t piece_rows = rows_in_piece(part.work);
  to.add_pieces(std::make_shared<RowTransform>(rows, of, part.beyond, piece_rows, std::move(fill)),
                piece_rows * part.bits / 8, bytes_of_rows(rows.count + part.beyond, part.bits));
}

}  // namespace

void OptionalRows::step_into(const Column& offsets, std::int64_t lists_count) {
  lists.push_back({range_of_items(offsets, 0, 0), lists_count});
}

void add_presence(Segments& to, const OptionalRows& rows) {
  add(to, rows, {}, {1, 1}, [](Positions positions, auto, std::span<char> into) {
    for_each_item(positions, [&](std::size_t row, std::size_t) { set_bit(into, row); });
  });
}

void add_rows(Segments& to, const OptionalRows& rows, const Column& column) {
  const std::size_t size = column.item_size();
  add(to, rows, {&column}, {8 * size, 8 * size}, [size](Positions positions, auto items, std::span<char> into) {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      std::memcpy(into.data() + row * size, items[0].data() + item * size, size);
    });
  });
}

void add_bit_rows(Segments& to, const OptionalRows& rows, const Column& column) {
  const std::size_t numbers = column.item_size();
  add(to, rows, {&column}, {numbers, numbers}, [numbers](Positions positions, auto items, std::span<char> into) {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      for (std::size_t i = 0; i < numbers; ++i)
        if (items[0][item * numbers + i] != 0) set_bit(into, row * numbers + i);
    });
  });
}

void add_row_offsets(Segments& to, const OptionalRows& rows, const Column& offsets) {
  add(to, rows, {&offsets}, {64, 64, 1}, [](Positions positions, auto items, std::span<char> into) {
    for (std::size_t i = 0; i < into.size() / sizeof(std::int64_t); ++i)
      put(into, i, integer_at(items[0], static_cast<std::size_t>(positions[i] - positions[0])));
  });
}

void add_dates(Segments& to, const OptionalRows& rows, const DateColumns& columns) {
  auto fill = [kind = columns.kind](Positions positions, auto items, std::span<char> into) {
    for_each_item(positions,
                  [&](std::size_t row, std::size_t item) { put(into, row, date_at(kind, items, item).value_or(0)); });
  };
  add(to, rows, columns.columns, {64, 64}, std::move(fill));
}

void add_date_presence(Segments& to, const OptionalRows& rows, const DateColumns& columns) {
  auto fill = [kind = columns.kind](Positions positions, auto items, std::span<char> into) {
    for_each_item(positions, [&](std::size_t row, std::size_t item) {
      if (date_at(kind, items, item)) set_bit(into, row);
    });
  };
  add(to, rows, columns.columns, {1, 32}, std::move(fill));
}

void add_item_numbers(Segments& to, const OptionalRows& rows) {
  add(to, rows, {}, {64, 64}, [](Positions positions, auto, std::span<char> into) {
    for (std::size_t i = 0; i + 1 < positions.size(); ++i)
      put(into, i, has_item(positions, i) ? positions[i] : std::int64_t{-1});
  });
}

}  // namespace tfilefs
