// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tfile/node.h"

namespace tfile {

// The dates of ROOT's classes. Pure.

// The kind of a value of that class that is one number, or a record.
DateKind date_of_number(std::string_view class_name);
DateKind date_of_record(std::string_view class_name);

// A TDatime has no time zone: seconds since 1970 as if it was UTC. Nothing if it is no date (month 0, day 30 of
// February, second 60, ...).
std::optional<std::int64_t> datime_seconds(std::uint32_t datime);

// Nanoseconds since 1970, UTC. Any two numbers of a TTimeStamp are an instant.
constexpr std::int64_t timestamp_nanoseconds(std::int32_t seconds, std::int32_t nanoseconds) {
  return std::int64_t{seconds} * 1'000'000'000 + nanoseconds;
}

// Append ISO 8601: 2024-02-29T12:34:56 (of a TDatime that is no date, its number), 2024-02-29T12:34:56.000000007Z.
void append_datime(std::string& to, std::uint32_t datime);
void append_timestamp(std::string& to, std::int32_t seconds, std::int32_t nanoseconds);

}  // namespace tfile
