// SPDX-License-Identifier: Apache-2.0
#include "http/byte_ranges.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "http/header_text.h"

namespace tfilefs {
namespace {

constexpr std::size_t kRangesMax = 64;

// A number of digits alone. Those that are too large for 64 bits are as good as the largest.
std::optional<std::uint64_t> position_in(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc::result_out_of_range ? UINT64_MAX : number;
}

// "FIRST-LAST", "FIRST-" or "-COUNT". Nothing if it is none of these; an empty range if it lies behind the end.
std::optional<FileSpan> range_in(std::string_view text, std::uint64_t size) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = text.substr(0, dash), last = text.substr(dash + 1);
  const auto begin = position_in(first), end = position_in(last);
  if (first.empty()) {
    if (!end) return std::nullopt;
    return FileSpan{size - std::min(size, *end), size};
  }
  if (!begin || (!last.empty() && (!end || *end < *begin))) return std::nullopt;
  if (*begin >= size) return FileSpan{};
  return FileSpan{*begin, last.empty() || *end >= size ? size : *end + 1};
}

}  // namespace

WantedBytes wanted_bytes(std::string_view header, std::uint64_t size) {
  using Part = WantedBytes::Part;
  constexpr std::string_view kUnit = "bytes=";
  if (!equals_without_case(header.substr(0, kUnit.size()), kUnit)) return {};
  WantedBytes wanted{Part::some, {}};
  std::uint64_t sum = 0;
  std::size_t count = 0;
  for (const std::string_view each : list_items(header.substr(kUnit.size()))) {
    const auto range = range_in(each, size);
    if (!range || ++count > kRangesMax) return {};
    if (range->size() == 0) continue;
    sum += range->size();
    wanted.ranges.push_back(*range);
  }
  if (count == 0 || sum > size) return {};
  if (wanted.ranges.empty()) wanted.part = Part::none;
  return wanted;
}

}  // namespace tfilefs
