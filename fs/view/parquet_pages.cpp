// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "damage.h"
#include "view/date_columns.h"
#include "view/parquet_leaves.h"

namespace tfilefs {
namespace {

using Type = ParquetElement::Type;

class PageTransform : public Transform {
 public:
  PageTransform(std::shared_ptr<const tfile::Table> table, const ParquetLeaf& leaf)
      : table_(std::move(table)), leaf_(leaf), column_(table_->columns[leaf.values]) {}

 protected:
  const Page& page(std::uint64_t number) const { return leaf_.pages->pages[number]; }
  ColumnRange offsets_of(ColumnId id, ItemSpan lists) const {
    const bool any = lists.begin < lists.end;
    return range_of_items(table_->columns[id], lists.begin, any ? lists.end - lists.begin + 1 : 0);
  }
  static std::vector<std::int64_t> integers(std::string_view bytes) {
    std::vector<std::int64_t> numbers(bytes.size() / sizeof(std::int64_t));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(std::int64_t));
    return numbers;
  }

  const std::shared_ptr<const tfile::Table> table_;
  const ParquetLeaf leaf_;
  const Column& column_;
};

class LevelPages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    std::vector<ColumnRange> ranges;
    const auto& steps = leaf_.shape.steps;
    for (std::size_t i = 0; i < steps.size(); ++i)
      if (steps[i].has_offsets()) ranges.push_back(offsets_of(steps[i].offsets, page(number).lists[i]));
    if (tells_dates()) ranges.push_back(range_of_numbers(column_, page(number).values));
    return ranges;
  }
  Result<void> make(std::uint64_t number, std::span<const std::string_view> inputs, std::span<char> to) const override {
    const auto& steps = leaf_.shape.steps;
    const Page& p = page(number);
    std::vector<OffsetsWindow> windows(steps.size());
    for (std::size_t i = 0, input = 0; i < steps.size(); ++i) {
      if (!steps[i].has_offsets()) continue;
      windows[i] = {p.lists[i].begin, integers(inputs[input++])};
      if (!are_offsets_sound(windows[i].offsets, steps[i].number))
        return unsound_offsets(windows[i].offsets, {0, steps[i].number});
    }
    if (tells_dates()) windows.back() = {p.values.begin, offsets_of_dates(inputs.back())};
    return write_levels({steps, windows}, p.entries.begin, p.entries.end, p.places, to);
  }

 private:
  bool tells_dates() const {
    const auto& steps = leaf_.shape.steps;
    return !steps.empty() && steps.back().kind == LevelStep::Kind::date;
  }
  std::vector<std::int64_t> offsets_of_dates(std::string_view values) const {
    std::vector<std::int64_t> offsets{0};
    for (std::size_t i = 0; i < values.size() / size_of(column_.dtype); ++i)
      offsets.push_back(offsets.back() + (date_at(leaf_.date, std::span(&values, 1), i) ? 1 : 0));
    return offsets;
  }
};

// Dates, without those that are none: there is room for all of them, and zeros at its end.
class DatePages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    std::vector<ColumnRange> ranges;
    for (const ColumnId id : leaf_.dates) ranges.push_back(range_of_numbers(table_->columns[id], page(number).values));
    return ranges;
  }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    const std::int64_t unit = leaf_.date == tfile::DateKind::datime ? 1000 : 1;
    const bool may_lack = !leaf_.shape.steps.empty() && leaf_.shape.steps.back().kind == LevelStep::Kind::date;
    std::size_t at = 0;
    for (std::size_t i = 0; i < to.size() / sizeof(std::int64_t); ++i) {
      const auto date = date_at(leaf_.date, inputs, i);
      if (!date && may_lack) continue;
      const std::int64_t value = date.value_or(0) * unit;
      std::memcpy(to.data() + at, &value, sizeof value);
      at += sizeof value;
    }
    return {};
  }
};

// Integers of one or two bytes, stored in four.
class WidePages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    return {range_of_numbers(column_, page(number).values)};
  }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    switch (column_.dtype) {
      case Dtype::i1:
        return widen<std::int8_t>(inputs[0], to);
      case Dtype::u1:
        return widen<std::uint8_t>(inputs[0], to);
      case Dtype::i2:
        return widen<std::int16_t>(inputs[0], to);
      default:
        return widen<std::uint16_t>(inputs[0], to);
    }
  }

 private:
  template <class T>
  static Result<void> widen(std::string_view from, std::span<char> to) {
    for (std::size_t i = 0; i < from.size() / sizeof(T); ++i) {
      T narrow;
      std::memcpy(&narrow, from.data() + i * sizeof narrow, sizeof narrow);
      const std::int32_t wide = narrow;
      std::memcpy(to.data() + i * sizeof wide, &wide, sizeof wide);
    }
    return {};
  }
};

// Booleans as bits, the first in the lowest.
class BitPages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    return {range_of_numbers(column_, page(number).values)};
  }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    for (std::size_t i = 0; i < inputs[0].size(); ++i)
      if (inputs[0][i] != 0) to[i / 8] = static_cast<char>(to[i / 8] | 1 << i % 8);
    return {};
  }
};

// Strings, each behind its size in four bytes.
class StringPages final : public PageTransform {
 public:
  using PageTransform::PageTransform;
  std::vector<ColumnRange> inputs(std::uint64_t number) const override {
    const Page& p = page(number);
    return {offsets_of(*leaf_.shape.chars_offsets, p.values),
            range_of_items(column_, p.chars.begin, p.chars.end - p.chars.begin)};
  }
  Result<void> make(std::uint64_t, std::span<const std::string_view> inputs, std::span<char> to) const override {
    const std::vector<std::int64_t> offsets = integers(inputs[0]);
    const std::string_view chars = inputs[1];
    char* at = to.data();
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
      const std::int64_t begin = offsets[i] - offsets[0], size = offsets[i + 1] - offsets[i];
      if (begin < 0 || size < 0 || begin + size > std::ssize(chars) || to.data() + to.size() - at < size + 4)
        return tfile::fail(ErrorKind::damaged, "string " + std::to_string(i) + " of the page has " +
                                                   std::to_string(size) + " bytes at " + std::to_string(begin) +
                                                   " of " + std::to_string(chars.size()));
      const auto reply = static_cast<std::uint32_t>(size);
      std::memcpy(at, &reply, sizeof reply);
      std::memcpy(at + sizeof reply, chars.data() + begin, static_cast<std::size_t>(size));
      at += sizeof reply + static_cast<std::size_t>(size);
    }
    return {};
  }
};

class UnreadablePage final : public Transform {
 public:
  explicit UnreadablePage(std::shared_ptr<const Error> error) : error_(std::move(error)) {}
  std::vector<ColumnRange> inputs(std::uint64_t) const override { return {}; }
  Result<void> make(std::uint64_t, std::span<const std::string_view>, std::span<char>) const override {
    return tl::unexpected<Error>(*error_);
  }

 private:
  const std::shared_ptr<const Error> error_;
};

}  // namespace

std::shared_ptr<const Transform> parquet_levels(std::shared_ptr<const tfile::Table> table, const ParquetLeaf& leaf) {
  return std::make_shared<LevelPages>(std::move(table), leaf);
}

std::shared_ptr<const Transform> parquet_values(std::shared_ptr<const tfile::Table> table, const ParquetLeaf& leaf) {
  if (leaf.type == Type::byte_array) return std::make_shared<StringPages>(std::move(table), leaf);
  if (!leaf.dates.empty()) return std::make_shared<DatePages>(std::move(table), leaf);
  if (leaf.type == Type::boolean) return std::make_shared<BitPages>(std::move(table), leaf);
  return std::make_shared<WidePages>(std::move(table), leaf);
}

std::shared_ptr<const Transform> unreadable_page(std::shared_ptr<const tfile::Error> error) {
  return std::make_shared<UnreadablePage>(std::move(error));
}

std::uint64_t parquet_values_size(const tfile::Table& table, const ParquetLeaf& leaf, const Page& page) {
  const auto count = static_cast<std::uint64_t>(page.values.end - page.values.begin);
  switch (leaf.type) {
    case Type::boolean:
      return (count + 7) / 8;
    case Type::byte_array:
      return count * 4 + static_cast<std::uint64_t>(page.chars.end - page.chars.begin);
    case Type::int64:
      return count * sizeof(std::int64_t);
    default:
      return count * std::max<std::size_t>(4, size_of(table.columns[leaf.values].dtype));
  }
}

// The numbers of a column one by one, whatever the shape of its items.
ColumnRange range_of_numbers(const Column& column, ItemSpan numbers) {
  ColumnRange range = range_of_items(column, 0, 0);
  range.offset = static_cast<std::uint64_t>(numbers.begin) * size_of(column.dtype);
  range.size = static_cast<std::uint64_t>(numbers.end - numbers.begin) * size_of(column.dtype);
  return range;
}

}  // namespace tfilefs
