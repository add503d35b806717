// SPDX-License-Identifier: Apache-2.0
#include "view/date_columns.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/for_each.h"
#include "on_behalf.h"
#include "tfile/date.h"
#include "view/column_pieces.h"

namespace tfilefs {
namespace {

using tfile::DateKind;

constexpr std::int64_t kDatesAtOnce = 1 << 18;  // a megabyte

template <class T>
T number_at(std::string_view bytes, std::size_t item) {
  T number;
  std::memcpy(&number, bytes.data() + item * sizeof number, sizeof number);
  return number;
}

struct NoDates {
  std::int64_t found = 0;
  bool is_damaged = false;
};

std::int64_t count_in(const Slices& slices) {
  std::vector<std::uint32_t> dates(slices.size() / sizeof(std::uint32_t));
  copy_slices(slices, reinterpret_cast<std::byte*>(dates.data()));
  return std::ranges::count_if(dates, [](std::uint32_t date) { return !tfile::datime_seconds(date); });
}

}  // namespace

DateColumns::DateColumns(const tfile::Table& table, const TableForm& form) : kind(form.date) {
  for (const ColumnId id : date_columns(form)) columns.push_back(&table.columns[id]);
}

std::optional<std::int64_t> date_at(DateKind kind, std::span<const std::string_view> items, std::size_t item) {
  if (kind == DateKind::datime) return tfile::datime_seconds(number_at<std::uint32_t>(items[0], item));
  return tfile::timestamp_nanoseconds(number_at<std::int32_t>(items[0], item), number_at<std::int32_t>(items[1], item));
}

void count_no_dates(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                    ColumnId id, std::int64_t length, Reply<std::int64_t> reply) {
  const Column& column = table->columns[id];
  const std::int64_t shown =
      std::max<std::int64_t>(0, column.lists.empty() ? std::min(length, table->entries) : length);
  auto look = [streams, table, &column, shown](std::size_t i, NoDates& made, Reply<void> done) {
    const std::int64_t first = static_cast<std::int64_t>(i) * kDatesAtOnce;
    auto add = [&made](Result<Slices> slices) -> Result<void> {
      if (!slices && slices.error().kind != ErrorKind::damaged) return tl::unexpected(std::move(slices).error());
      made.is_damaged = made.is_damaged || !slices;
      if (slices) made.found += count_in(*slices);
      return {};
    };
    read_whole(*streams, range_of_items(column, first, std::min(kDatesAtOnce, shown - first)),
               answer_of_result<Slices>(std::move(done), std::move(add)));
  };
  auto all = [](const NoDates& made) { return made.found + (made.is_damaged ? 1 : 0); };
  for_each(static_cast<std::size_t>((shown + kDatesAtOnce - 1) / kDatesAtOnce), NoDates(), std::move(look),
           answer_with<NoDates>(std::move(reply), std::move(all)));
}

}  // namespace tfilefs
