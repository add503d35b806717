// SPDX-License-Identifier: Apache-2.0
#include "tfile/date.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tfile {
namespace {

constexpr std::uint32_t datime(unsigned year, unsigned month, unsigned day, unsigned hour, unsigned minute,
                               unsigned second) {
  return (year - 1995) << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second;
}

std::string datime_text(std::uint32_t date) {
  std::string text = "=";
  append_datime(text, date);
  return text;
}

std::string timestamp_text(std::int32_t seconds, std::int32_t nanoseconds) {
  std::string text;
  append_timestamp(text, seconds, nanoseconds);
  return text;
}

TEST(Date, OfADatime) {
  EXPECT_EQ(datime_seconds(datime(1995, 1, 1, 0, 0, 0)), 788918400);
  EXPECT_EQ(datime_seconds(datime(2024, 2, 29, 12, 34, 56)), 1709210096);
  EXPECT_EQ(datime_seconds(datime(2058, 12, 31, 23, 59, 59)), 2808604799);
  EXPECT_EQ(datime_text(datime(2024, 2, 29, 12, 34, 56)), "=2024-02-29T12:34:56");
  EXPECT_EQ(datime_text(datime(1995, 1, 1, 0, 0, 0)), "=1995-01-01T00:00:00");
}

TEST(Date, WhatIsNoneIsItsNumber) {
  for (const std::uint32_t none :
       {std::uint32_t{0}, UINT32_MAX, datime(2024, 0, 1, 0, 0, 0), datime(2024, 13, 1, 0, 0, 0),
        datime(2024, 1, 0, 0, 0, 0), datime(2023, 2, 29, 0, 0, 0), datime(2024, 4, 31, 0, 0, 0),
        datime(2024, 1, 1, 24, 0, 0), datime(2024, 1, 1, 0, 60, 0), datime(2024, 1, 1, 0, 0, 60)}) {
    EXPECT_FALSE(datime_seconds(none)) << none;
    EXPECT_EQ(datime_text(none), "=" + std::to_string(none));
  }
}

TEST(Date, OfATimestamp) {
  EXPECT_EQ(timestamp_text(0, 0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(timestamp_text(1709210096, 7), "2024-02-29T12:34:56.000000007Z");
  EXPECT_EQ(timestamp_text(-1, 999999999), "1969-12-31T23:59:59.999999999Z");
  // ROOT keeps nanoseconds within a second; others are an instant as well.
  EXPECT_EQ(timestamp_text(1, -1), "1970-01-01T00:00:00.999999999Z");
  EXPECT_EQ(timestamp_text(INT32_MIN, INT32_MIN), "1901-12-13T20:45:49.852516352Z");
  EXPECT_EQ(timestamp_text(INT32_MAX, INT32_MAX), "2038-01-19T03:14:09.147483647Z");
  EXPECT_EQ(timestamp_nanoseconds(INT32_MIN, -1), std::int64_t{INT32_MIN} * 1'000'000'000 - 1);
}

}  // namespace
}  // namespace tfile
