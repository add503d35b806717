// SPDX-License-Identifier: Apache-2.0
#include "plot/svg_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "tfile/json_text.h"

namespace tfilefs {

using tfile::utf8_length;

void append_number(std::string& to, double value) {
  if (!std::isfinite(value)) value = 0;
  std::array<char, 400> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                          std::round(value * 100) / 100 + 0.0, std::chars_format::fixed, 2);
  std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  while (text.ends_with('0')) text.remove_suffix(1);
  if (text.ends_with('.')) text.remove_suffix(1);
  to += text == "-0" ? "0" : text;
}

void append_attribute(std::string& to, std::string_view name, double value) {
  to += ' ';
  to += name;
  to += "=\"";
  append_number(to, value);
  to += '"';
}

std::size_t append_markup_character(std::string& to, std::string_view text) {
  const std::size_t length = utf8_length(text);
  const auto c = static_cast<unsigned char>(text[0]);
  const std::string_view character = text.substr(0, length);
  // U+FFFE and U+FFFF are not allowed in XML either.
  const bool is_none = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
  if (length == 0 || (c < 0x20 && c != '\t' && c != '\n') || is_none)
    to += "\uFFFD";
  else if (c == '<')
    to += "&lt;";
  else if (c == '>')
    to += "&gt;";
  else if (c == '&')
    to += "&amp;";
  else if (c == '"')
    to += "&quot;";
  else if (c == '\'')
    to += "&#39;";
  else
    to += character;
  return length == 0 ? 1 : length;
}

void append_markup(std::string& to, std::string_view text) {
  while (!text.empty()) text.remove_prefix(append_markup_character(to, text));
}

}  // namespace tfilefs
