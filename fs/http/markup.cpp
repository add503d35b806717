// SPDX-License-Identifier: Apache-2.0
#include "http/markup.h"

#include "tfile/json_text.h"

namespace tfilefs {

std::string html_escaped(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD, for bytes that are no text
  std::string escaped;
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t length = tfile::utf8_length(text);
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if (length == 0 || (static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n')) {
      escaped += kReplacement;
    } else {
      escaped += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

}  // namespace tfilefs
