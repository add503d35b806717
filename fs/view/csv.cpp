// SPDX-License-Identifier: Apache-2.0
#include "view/csv.h"

#include <array>
#include <charconv>
#include <cmath>

#include "view/plain_text.h"

namespace tfilefs {

std::string csv_text(const tfile::Spreadsheet& sheet) {
  std::string text;
  const std::size_t columns = sheet.columns.size() + sheet.texts.size();
  const auto end_field = [&](std::size_t column) { text += column + 1 == columns ? '\n' : ','; };
  for (std::size_t i = 0; i < columns; ++i) {
    text += i < sheet.names.size() ? sheet.names[i] : sheet.text_names[i - sheet.names.size()];
    end_field(i);
  }
  const std::size_t rows = sheet.columns.empty() ? 0 : sheet.columns[0].size();
  std::array<char, 32> digits;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < sheet.columns.size(); ++i) {
      const double value = sheet.columns[i][row];
      // The sign of nan has no meaning.
      const auto end = std::to_chars(digits.begin(), digits.end(), std::isnan(value) ? std::abs(value) : value).ptr;
      text.append(digits.begin(), end);
      end_field(i);
    }
    for (std::size_t i = 0; i < sheet.texts.size(); ++i) {
      append_csv_start(text, sheet.texts[i][row]);
      append_csv(text, sheet.texts[i][row]);
      text += '"';
      end_field(sheet.columns.size() + i);
    }
  }
  return text;
}

}  // namespace tfilefs
