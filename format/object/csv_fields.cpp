// SPDX-License-Identifier: Apache-2.0
#include "object/csv_fields.h"

#include <charconv>
#include <cmath>

namespace tfile {

std::string_view csv_number(double value, CsvText& text) {
  const auto end = std::to_chars(text.begin(), text.end(), std::isnan(value) ? std::abs(value) : value).ptr;
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

std::uint64_t csv_size(double value) {
  // From 100,000 on an exponent may be shorter.
  if (value >= 0 && value < 100'000 && value == std::trunc(value) && !std::signbit(value))
    return 1 + (value >= 10) + (value >= 100) + (value >= 1000) + (value >= 10'000);
  CsvText text;
  return csv_number(value, text).size();
}

void append_borders(std::string& line, const AxisBins& axis, std::uint64_t bin) {
  CsvText text;
  line += csv_number(axis.edge(bin), text);
  line += ',';
  line += csv_number(axis.edge(bin + 1), text);
  line += ',';
}
std::uint64_t size_of_borders(const AxisBins& axis, std::uint64_t bin) {
  return csv_size(axis.edge(bin)) + csv_size(axis.edge(bin + 1)) + 2;
}

std::uint64_t ErrorSizes::of(double variance) {
  const bool is_count = variance >= 0 && variance < kCounts && variance == std::trunc(variance);
  if (!is_count) return csv_size(std::sqrt(variance));
  std::uint8_t& known = known_[static_cast<std::size_t>(variance)];
  if (known == 0) known = static_cast<std::uint8_t>(csv_size(std::sqrt(variance)));
  return known;
}

}  // namespace tfile
