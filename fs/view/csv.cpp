// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "view/plot_svg.h"

namespace tfilefs {

namespace {

// As in tables (docs/semantics.md, "Views"): quoted, and with an apostrophe in front if a spreadsheet would run it.
void append_quoted(std::string& to, std::string_view text) {
  static constexpr std::string_view kBegins[] = {"=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"};
  to += '"';
  for (const std::string_view begin : kBegins) {
    if (text.starts_with(begin)) {
      to += '\'';
      break;
    }
  }
  for (const char c : text) {
    if (c == '"') to += '"';
    to += c;
  }
  to += '"';
}

}  // namespace

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
      append_quoted(text, sheet.texts[i][row]);
      end_field(sheet.columns.size() + i);
    }
  }
  return text;
}

}  // namespace tfilefs
