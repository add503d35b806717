// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "object/object_arrays.h"

namespace tfile {

// A field of text in CSV, quoted.
using QuotedField = std::function<std::string(std::string_view)>;

using CsvText = std::array<char, 32>;

// The shortest text that reads back equal. The sign of nan has no meaning.
std::string_view csv_number(double value, CsvText& text);
std::uint64_t csv_size(double value);

// The borders of a bin, each with a comma behind it.
void append_borders(std::string& line, const AxisBins& axis, std::uint64_t bin);
std::uint64_t size_of_borders(const AxisBins& axis, std::uint64_t bin);

// Sizes of the errors of bins that count fills: few numbers, with 17 digits each.
class ErrorSizes {
 public:
  std::uint64_t of(double variance);

 private:
  static constexpr std::size_t kCounts = 4096;
  std::array<std::uint8_t, kCounts> known_{};
};

}  // namespace tfile
