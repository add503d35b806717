// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "letter_case.h"

namespace tfilefs {
namespace {

struct DurationUnit {
  std::string_view name;
  double milliseconds;
};

constexpr auto kDurationUnits = std::to_array<DurationUnit>({
    {"ms", 1},
    {"s", 1e3},
    {"sec", 1e3},
    {"secs", 1e3},
    {"second", 1e3},
    {"seconds", 1e3},
    {"m", 60e3},
    {"min", 60e3},
    {"mins", 60e3},
    {"minute", 60e3},
    {"minutes", 60e3},
    {"h", 3600e3},
    {"hr", 3600e3},
    {"hour", 3600e3},
    {"hours", 3600e3},
    {"d", 86400e3},
    {"day", 86400e3},
    {"days", 86400e3},
});

// Takes a number without a sign from the front of the text.
std::optional<double> take_number(std::string_view& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number, std::chars_format::fixed);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return number;
}

void skip_blank(std::string_view& text) {
  if (text.starts_with(' ')) text.remove_prefix(1);
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  constexpr double kMost = 1e12;
  double sum = 0;  // milliseconds
  for (bool is_first = true; is_first || !text.empty(); is_first = false) {
    if (!is_first) skip_blank(text);
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    if (is_first && text.empty()) {
      sum = *number * 1e3;
      break;
    }
    skip_blank(text);
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto behind = std::find_if_not(text.begin(), text.end(), is_letter);
    const auto length = static_cast<std::size_t>(behind - text.begin());
    const auto* const unit = std::ranges::find(kDurationUnits, lower_case(text.substr(0, length)), &DurationUnit::name);
    if (unit == kDurationUnits.end()) return std::nullopt;
    text.remove_prefix(length);
    sum += *number * unit->milliseconds;
  }
  if (!(sum <= kMost)) return std::nullopt;
  return std::chrono::milliseconds(std::llround(sum));
}

}  // namespace tfilefs
