// SPDX-License-Identifier: Apache-2.0
#include "markup.h"

#include "tfile/json_text.h"

namespace tfilefs {

using tfile::utf8_length;

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

std::string html_escaped(std::string_view text) {
  std::string escaped;
  append_markup(escaped, text);
  return escaped;
}

}  // namespace tfilefs
