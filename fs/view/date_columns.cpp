// SPDX-License-Identifier: Apache-2.0
#include "view/date_columns.h"

#include <algorithm>
#include <cstring>

#include "exec/trampoline.h"
#include "tfile/date.h"
#include "view/segments.h"

namespace tfilefs {
namespace {

using tfile::DateKind;

constexpr std::int64_t kDatesAtOnce = 1 << 18;  // a megabyte

template <class T>
T number_at(const std::string& bytes, std::size_t item) {
  T number;
  std::memcpy(&number, bytes.data() + item * sizeof number, sizeof number);
  return number;
}

class NoDates : public std::enable_shared_from_this<NoDates> {
 public:
  NoDates(std::shared_ptr<CachedStreams> streams, const Column& column, std::int64_t length, Reply<std::int64_t> reply)
      : streams_(std::move(streams)),
        column_(range_of_items(column, 0, 0)),
        length_(length),
        reply_(std::move(reply)) {}

  void next() {
    loop_.next([self = shared_from_this()] { self->step(); });
  }

 private:
  void step() {
    if (reply_.stop_token().stop_requested()) return reply_(given_up());
    if (at_ == length_) return reply_(found_ + (is_damaged_ ? 1 : 0));
    const std::int64_t count = std::min(kDatesAtOnce, length_ - at_);
    ColumnRange range = column_;
    range.offset = static_cast<std::uint64_t>(at_) * range.item_size;
    range.size = static_cast<std::uint64_t>(count) * range.item_size;
    at_ += count;
    auto take = [self = shared_from_this()](Result<Slices> slices) {
      if (!slices && slices.error().kind != ErrorKind::damaged)
        return self->reply_(tl::unexpected<Error>(slices.error()));
      if (slices)
        self->look_at(*slices);
      else
        self->is_damaged_ = true;
      self->next();
    };
    read_whole(*streams_, range, Reply<Slices>(std::move(take), reply_.stop_token()));
  }

  void look_at(const Slices& slices) {
    std::vector<std::uint32_t> dates(slices.size() / sizeof(std::uint32_t));
    copy_slices(slices, reinterpret_cast<std::byte*>(dates.data()));
    found_ += std::ranges::count_if(dates, [](std::uint32_t date) { return !tfile::datime_seconds(date); });
  }

  const std::shared_ptr<CachedStreams> streams_;
  const ColumnRange column_;
  const std::int64_t length_;
  Reply<std::int64_t> reply_;
  Trampoline loop_;
  std::int64_t at_ = 0, found_ = 0;
  bool is_damaged_ = false;
};

}  // namespace

DateColumns::DateColumns(const tfile::Table& table, const TableForm& form) : kind(form.date) {
  for (const ColumnId id : date_columns(form)) columns.push_back(&table.columns[id]);
}

std::optional<std::int64_t> date_at(DateKind kind, std::span<const std::string> items, std::size_t item) {
  if (kind == DateKind::datime) return tfile::datime_seconds(number_at<std::uint32_t>(items[0], item));
  return tfile::timestamp_nanoseconds(number_at<std::int32_t>(items[0], item), number_at<std::int32_t>(items[1], item));
}

void count_no_dates(const std::shared_ptr<CachedStreams>& streams, const std::shared_ptr<const tfile::Table>& table,
                    ColumnId id, std::int64_t length, Reply<std::int64_t> reply) {
  const Column& column = table->columns[id];
  const std::int64_t shown = column.lists.empty() ? std::min(length, table->entries) : length;
  std::make_shared<NoDates>(streams, column, std::max<std::int64_t>(0, shown), std::move(reply))->next();
}

}  // namespace tfilefs
