// SPDX-License-Identifier: Apache-2.0
#include "view/plain_text.h"

#include <algorithm>
#include <cstdint>

#include "printable.h"
#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using tfile::utf8_length;

// Also in the full-width forms that East Asian versions of spreadsheets accept
// (https://owasp.org/www-community/attacks/CSV_Injection).
bool begins_as_formula(std::string_view text) {
  static constexpr std::string_view kWide[] = {"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
  return !text.empty() &&
         (std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos ||
          std::any_of(std::begin(kWide), std::end(kWide), [&](auto sign) { return text.starts_with(sign); }));
}

}  // namespace

void append_plain(std::string& to, std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    if (byte == '\\') {
      to += "\\\\";
    } else if (byte == '\n') {
      to += "\\n";
    } else if (byte == '\t') {
      to += "\\t";
    } else if (byte == '\r') {
      to += "\\r";
    } else if (byte >= 0x20 && byte < 0x7f) {
      to.push_back(text[i]);
    } else {
      // A byte that is not UTF-8 is kept: it may be a letter of another encoding.
      const std::size_t control = utf8_length(text.substr(i)) ? control_length(text.substr(i)) : 0;
      if (control) {
        append_escaped(to, text.substr(i, control));
        i += control - 1;
      } else {
        to.push_back(text[i]);
      }
    }
  }
}

void append_csv_start(std::string& to, std::string_view text) {
  to.push_back('"');
  if (begins_as_formula(text)) to.push_back('\'');
}

void append_csv(std::string& to, std::string_view text) {
  for (std::size_t quote; (quote = text.find('"')) != text.npos; text.remove_prefix(quote + 1)) {
    to += text.substr(0, quote + 1);
    to.push_back('"');
  }
  to += text;
}

}  // namespace tfilefs
