// SPDX-License-Identifier: Apache-2.0
#include "array/arrow.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "on_behalf.h"
#include "view/columnar_form.h"
#include "view/optional_rows.h"
#include "view/segments.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using Kind = TableForm::Kind;

// Numbers that a piece packs into bits: it reads a quarter of a megabyte, and answers requests of a page or more.
constexpr std::uint64_t kBitsPiece = 1 << 18;
// Limits that keep sizes in bytes far from an overflow.
constexpr std::int64_t kRowsMax = std::int64_t{1} << 56, kNumbersMax = std::int64_t{1} << 58;
constexpr std::uint64_t kOffsetsPiece = 64 << 10;  // bytes

// Booleans of a column, a byte each, packed into bits: the first in the lowest.
class Bits : public Transform {
 public:
  Bits(const Column& column, std::uint64_t numbers) : column_(range_of_items(column, 0, 0)), numbers_(numbers) {}

  std::vector<ColumnRange> inputs(std::uint64_t piece) const override {
    ColumnRange range = column_;
    range.offset = piece * kBitsPiece;
    range.size = std::min(kBitsPiece, numbers_ - range.offset);
    return {range};
  }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    for (std::size_t i = 0; i < inputs[0].size(); ++i)
      if (inputs[0][i] != 0) to[i / 8] = static_cast<char>(to[i / 8] | 1 << i % 8);
    return {};
  }

 private:
  const ColumnRange column_;
  const std::uint64_t numbers_;
};

// Repeats the last item of a column of offsets, for lists that are missing at the end.
class LastOffset : public Transform {
 public:
  explicit LastOffset(ColumnRange last) : last_(last) {}
  std::vector<ColumnRange> inputs(std::uint64_t) const override { return {last_}; }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    for (std::size_t at = 0; at < to.size(); at += inputs[0].size())
      std::memcpy(to.data() + at, inputs[0].data(), inputs[0].size());
    return {};
  }

 private:
  const ColumnRange last_;
};

// Lays the columns out as the buffers of one record batch: in the order of the fields, outer before inner.
class BatchLayout {
 public:
  BatchLayout(const tfile::Table& table, const ColumnarForm& shown);
  Result<Segments> build();

 private:
  // `rows`: as many as the node must have. Items beyond are left out, missing ones are null.
  Result<ArrowField> place(const TableForm& form, std::int64_t rows);
  Result<void> place_items(ArrowField& field, const TableForm& form);

  // A list of 0 or 1; the nodes below it have as many rows as it has: each may be null, and still has a place in its
  // buffers.
  Result<ArrowField> place_optional(const TableForm& form, OptionalRows rows);
  ArrowField place_dates(const TableForm& form, const OptionalRows& rows);
  Result<void> place_optional_numbers(ArrowField& field, const Column& column, const OptionalRows& rows);

  // Adds the lists of fixed size that a column's shape puts around its numbers; returns the innermost field.
  Result<ArrowField*> place_shape(ArrowField& field, const Column& column, std::int64_t rows);
  Result<void> place_numbers(ArrowField& field, ColumnId id, std::int64_t own, std::int64_t rows);

  // Ends the buffer that began at `begin`.
  void end_buffer(std::uint64_t begin);

  template <class AddBytes>
  void add_buffer(AddBytes add_bytes) {
    const std::uint64_t begin = body_.size();
    add_bytes();
    end_buffer(begin);
  }

  // A bit per row, set for rows that exist; an empty buffer if all do.
  void add_validity(std::int64_t own, std::int64_t rows);
  void add_offsets(ColumnId id, std::int64_t own, std::int64_t rows);
  void add_data(ColumnId id, std::int64_t items, std::int64_t missing);
  void add_bits(const Column& column, std::int64_t own, std::int64_t rows);

  const tfile::Table& table_;
  const TableForm& form_;
  const ColumnLengths& lengths_;
  std::vector<ArrowNode> nodes_;
  std::vector<ArrowBuffer> buffers_;
  Segments body_;
};

BatchLayout::BatchLayout(const tfile::Table& table, const ColumnarForm& shown)
    : table_(table), form_(shown.form), lengths_(shown.lengths) {}

Result<Segments> BatchLayout::build() {
  const std::int64_t rows = std::max<std::int64_t>(0, table_.entries);
  if (rows > kRowsMax) return tfile::fail(ErrorKind::unsupported, "too many entries for an Arrow file");
  std::vector<ArrowField> fields;
  for (const TableForm& form : form_.fields) {
    TRY(auto field, place(form, rows));
    fields.push_back(std::move(field));
  }
  if (body_.is_too_large()) return tfile::fail(ErrorKind::unsupported, "the columns exceed the maximum file size");
  body_.align(kMemoryPage);
  const auto body_size = static_cast<std::int64_t>(body_.size());
  const ArrowHead head = arrow_head(fields, rows, nodes_, buffers_, body_size);
  Segments all;
  all.add_bytes(head.bytes);
  all.append(std::move(body_));
  all.add_bytes(arrow_tail(fields, head, body_size));
  return all;
}

Result<ArrowField> BatchLayout::place(const TableForm& form, std::int64_t rows) {
  const std::int64_t own = form.is_record() ? rows : std::min(rows, own_length(form, lengths_).value_or(rows));
  if (form.is_nullable() && own == rows) return place_optional(form, {rows, {}});
  if (form.is_date()) return place_dates(form, {rows, {}, own});
  ArrowField field;
  field.name = form.name;
  field.nullable = own < rows;
  nodes_.push_back({rows, rows - own});
  add_validity(own, rows);
  switch (form.kind) {
    case Kind::number:
      TRY_VOID(place_numbers(field, form.values, own, rows));
      break;
    case Kind::string:
    case Kind::bytes:
      field.kind = form.kind == Kind::string ? ArrowField::Kind::string : ArrowField::Kind::binary;
      add_offsets(form.offsets, own, rows);
      add_data(form.values, lengths_[form.values].value_or(0), 0);
      break;
    case Kind::list: {
      field.kind = ArrowField::Kind::list;
      add_offsets(form.offsets, own, rows);
      TRY_VOID(place_items(field, form));
      break;
    }
    default:
      field.kind = ArrowField::Kind::record;
      for (const TableForm& member : form.fields) {
        TRY(auto child, place(member, rows));
        field.children.push_back(std::move(child));
      }
  }
  return field;
}

Result<void> BatchLayout::place_items(ArrowField& field, const TableForm& form) {
  TRY(auto item, place(form.fields[0], own_length(form.fields[0], lengths_).value_or(0)));
  field.children.push_back(std::move(item));
  return {};
}

Result<ArrowField> BatchLayout::place_optional(const TableForm& form, OptionalRows rows) {
  if (form.is_nullable()) {
    rows.step_into(table_.columns[form.offsets], own_length(form, lengths_).value_or(0));
    TRY(auto field, place_optional(form.fields[0], rows));
    field.name = form.name;
    return field;
  }
  ArrowField field;
  field.name = form.name;
  field.nullable = true;
  rows.items = own_length(form, lengths_).value_or(0);
  if (form.is_date()) return place_dates(form, rows);
  nodes_.push_back({rows.count, std::max<std::int64_t>(0, rows.count - rows.items)});
  add_buffer([&] { add_presence(body_, rows); });
  switch (form.kind) {
    case Kind::number:
      TRY_VOID(place_optional_numbers(field, table_.columns[form.values], rows));
      break;
    case Kind::string:
    case Kind::bytes:
      field.kind = form.kind == Kind::string ? ArrowField::Kind::string : ArrowField::Kind::binary;
      add_buffer([&] { add_row_offsets(body_, rows, table_.columns[form.offsets]); });
      add_data(form.values, lengths_[form.values].value_or(0), 0);
      break;
    case Kind::list: {
      field.kind = ArrowField::Kind::list;
      add_buffer([&] { add_row_offsets(body_, rows, table_.columns[form.offsets]); });
      TRY_VOID(place_items(field, form));
      break;
    }
    default:
      field.kind = ArrowField::Kind::record;
      for (const TableForm& member : form.fields) {
        TRY(auto child, place_optional(member, rows));
        field.children.push_back(std::move(child));
      }
  }
  return field;
}

ArrowField BatchLayout::place_dates(const TableForm& form, const OptionalRows& rows) {
  ArrowField field;
  field.name = form.name;
  field.kind = form.date == tfile::DateKind::datime ? ArrowField::Kind::seconds : ArrowField::Kind::nanoseconds;
  const std::int64_t nulls = std::max<std::int64_t>(0, rows.count - rows.items) + form.no_dates;
  field.nullable = nulls > 0;
  nodes_.push_back({rows.count, nulls});
  const DateColumns columns(table_, form);
  add_buffer([&] {
    if (nulls > 0) add_date_presence(body_, rows, columns);
  });
  add_buffer([&] { add_dates(body_, rows, columns); });
  return field;
}

Result<void> BatchLayout::place_optional_numbers(ArrowField& field, const Column& column, const OptionalRows& rows) {
  TRY(ArrowField * innermost, place_shape(field, column, rows.count));
  if (column.dtype == Dtype::b1) {
    innermost->kind = ArrowField::Kind::boolean;
    add_buffer([&] { add_bit_rows(body_, rows, column); });
  } else {
    innermost->dtype = column.dtype;
    add_buffer([&] { add_rows(body_, rows, column); });
  }
  return {};
}

Result<ArrowField*> BatchLayout::place_shape(ArrowField& field, const Column& column, std::int64_t rows) {
  ArrowField* innermost = &field;
  std::int64_t numbers = 1;  // in an item
  for (const std::uint32_t extent : column.shape) {
    if (__builtin_mul_overflow(numbers, std::int64_t{extent}, &numbers) ||
        numbers > std::numeric_limits<std::int32_t>::max() || rows > kNumbersMax / std::max<std::int64_t>(1, numbers))
      return tfile::fail(ErrorKind::unsupported, "column " + column.path + " is too large for Arrow");
    innermost->kind = ArrowField::Kind::fixed_list;
    innermost->list_size = static_cast<std::int32_t>(extent);
    ArrowField& item = innermost->children.emplace_back();
    item.name = "item";
    innermost = &item;
    nodes_.push_back({rows * numbers, 0});
    add_validity(0, 0);
  }
  return innermost;
}

Result<void> BatchLayout::place_numbers(ArrowField& field, ColumnId id, std::int64_t own, std::int64_t rows) {
  const Column& column = table_.columns[id];
  TRY(ArrowField * innermost, place_shape(field, column, rows));
  if (column.dtype == Dtype::b1) {
    innermost->kind = ArrowField::Kind::boolean;
    const auto numbers = static_cast<std::int64_t>(column.item_size());
    add_bits(column, own * numbers, rows * numbers);
  } else {
    innermost->dtype = column.dtype;
    add_data(id, own, rows - own);
  }
  return {};
}

void BatchLayout::end_buffer(std::uint64_t begin) {
  buffers_.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(body_.size() - begin)});
  body_.align(kArrowAlignment);
  body_.end_of_column(begin);
}

void BatchLayout::add_validity(std::int64_t own, std::int64_t rows) {
  const std::uint64_t begin = body_.size();
  if (own < rows) {
    const auto whole = static_cast<std::uint64_t>(own / 8), all = static_cast<std::uint64_t>((rows + 7) / 8);
    body_.add_fill(0xff, whole);
    body_.add_bytes(std::string(1, static_cast<char>((1 << own % 8) - 1)));
    body_.add_fill(0, all - whole - 1);
  }
  end_buffer(begin);
}

void BatchLayout::add_offsets(ColumnId id, std::int64_t own, std::int64_t rows) {
  const std::uint64_t begin = body_.size();
  const Column& column = table_.columns[id];
  const auto missing = static_cast<std::uint64_t>(rows - own) * sizeof(std::int64_t);
  if (lengths_[id] == 0) {
    body_.add_fill(0, missing + sizeof(std::int64_t));
  } else {
    body_.add_column(range_of_items(column, 0, own + 1));
    if (missing > 0)
      body_.add_pieces(std::make_shared<LastOffset>(range_of_items(column, own, 1)), kOffsetsPiece, missing);
  }
  end_buffer(begin);
}

void BatchLayout::add_data(ColumnId id, std::int64_t items, std::int64_t missing) {
  const std::uint64_t begin = body_.size();
  const Column& column = table_.columns[id];
  body_.add_column(range_of_items(column, 0, items));
  body_.add_fill(0, range_of_items(column, 0, missing).size);
  end_buffer(begin);
}

void BatchLayout::add_bits(const Column& column, std::int64_t own, std::int64_t rows) {
  const std::uint64_t begin = body_.size();
  const auto numbers = static_cast<std::uint64_t>(own), all = static_cast<std::uint64_t>(rows);
  body_.add_pieces(std::make_shared<Bits>(column, numbers), kBitsPiece / 8, (numbers + 7) / 8);
  body_.add_fill(0, (all + 7) / 8 - (numbers + 7) / 8);
  end_buffer(begin);
}

}  // namespace

void arrow_content(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table, StringsAs strings,
                   Reply<std::shared_ptr<Content>> reply) {
  auto lay_out = [streams, table](const ColumnarForm& shown) -> Result<std::shared_ptr<Content>> {
    TRY(Segments segments, BatchLayout(*table, shown).build());
    return segment_content(streams, std::move(segments), false);
  };
  columnar_form(streams, table, strings, answer_with<ColumnarForm>(std::move(reply), std::move(lay_out)));
}

}  // namespace tfilefs
