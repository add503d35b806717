// SPDX-License-Identifier: Apache-2.0
#include "tfile/date.h"

#include <charconv>
#include <chrono>
#include <string_view>

namespace tfile {
namespace {

struct DateParts {
  unsigned year, month, day, hour, minute, second;
};

// (year - 1995) << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second.
DateParts parts_of_datime(std::uint32_t datime) {
  return {(datime >> 26) + 1995, (datime >> 22) & 15u, (datime >> 17) & 31u,
          (datime >> 12) & 31u,  (datime >> 6) & 63u,  datime & 63u};
}

std::chrono::year_month_day day_of(const DateParts& parts) {
  return std::chrono::year(static_cast<int>(parts.year)) / std::chrono::month(parts.month) /
         std::chrono::day(parts.day);
}

void append_digits(std::string& to, unsigned number, int digits) {
  char text[10];
  for (int i = digits; i-- > 0; number /= 10) text[i] = static_cast<char>('0' + number % 10);
  to.append(text, static_cast<std::size_t>(digits));
}

void append_parts(std::string& to, const DateParts& parts) {
  append_digits(to, parts.year, 4);
  for (const auto& [before, number] :
       {std::pair('-', parts.month), std::pair('-', parts.day), std::pair('T', parts.hour),
        std::pair(':', parts.minute), std::pair(':', parts.second)}) {
    to.push_back(before);
    append_digits(to, number, 2);
  }
}

}  // namespace

DateKind date_of_number(std::string_view class_name) {
  return class_name == "TDatime" ? DateKind::datime : DateKind::none;
}

DateKind date_of_record(std::string_view class_name) {
  return class_name == "TTimeStamp" ? DateKind::timestamp : DateKind::none;
}

std::optional<std::int64_t> datime_seconds(std::uint32_t datime) {
  const DateParts parts = parts_of_datime(datime);
  const std::chrono::year_month_day day = day_of(parts);
  if (!day.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > 59) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch().count();
  return ((std::int64_t{days} * 24 + parts.hour) * 60 + parts.minute) * 60 + parts.second;
}

void append_datime(std::string& to, std::uint32_t datime) {
  if (datime_seconds(datime)) return append_parts(to, parts_of_datime(datime));
  char text[10];
  to.append(text, std::to_chars(text, text + sizeof text, datime).ptr);
}

void append_timestamp(std::string& to, std::int32_t seconds, std::int32_t nanoseconds) {
  using namespace std::chrono;
  const sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(timestamp_nanoseconds(seconds, nanoseconds))};
  const auto midnight = floor<days>(time);
  const year_month_day day(midnight);
  const hh_mm_ss clock(time - midnight);
  append_parts(to, {static_cast<unsigned>(static_cast<int>(day.year())), static_cast<unsigned>(day.month()),
                    static_cast<unsigned>(day.day()), static_cast<unsigned>(clock.hours().count()),
                    static_cast<unsigned>(clock.minutes().count()), static_cast<unsigned>(clock.seconds().count())});
  to.push_back('.');
  append_digits(to, static_cast<unsigned>(clock.subseconds().count()), 9);
  to.push_back('Z');
}

}  // namespace tfile
