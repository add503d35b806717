// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>

#include "view/plot_svg.h"

namespace tfilefs {

std::string csv_text(const tfile::Spreadsheet& sheet) {
  std::string text;
  const auto end_field = [&](std::size_t column) { text += column + 1 == sheet.columns.size() ? '\n' : ','; };
  for (std::size_t i = 0; i < sheet.names.size(); ++i) {
    text += sheet.names[i];
    end_field(i);
  }
  const std::size_t rows = sheet.columns.empty() ? 0 : sheet.columns[0].size();
  std::array<char, 32> digits;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      const auto [end, error] = std::to_chars(digits.begin(), digits.end(), sheet.columns[i][row]);
      text.append(digits.begin(), end);
      end_field(i);
    }
  }
  return text;
}

}  // namespace tfilefs
