// SPDX-License-Identifier: Apache-2.0
#include "tfile/json_text.h"

#include <algorithm>
#include <cstdint>

namespace tfile {
namespace {

void append_u(std::string& to, unsigned code) {
  constexpr char kHex[] = "0123456789abcdef";
  to += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) to.push_back(kHex[code >> shift & 0xf]);
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool beyond = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

void append_json_string(std::string& to, std::string_view text) {
  to.push_back('"');
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto byte = static_cast<std::uint8_t>(text[0]);
    if (length == 0) {
      append_u(to, 0xdc00u + byte);
    } else if (byte == '"' || byte == '\\') {
      to.push_back('\\');
      to.push_back(text[0]);
    } else if (byte == '\n') {
      to += "\\n";
    } else if (byte == '\t') {
      to += "\\t";
    } else if (byte == '\r') {
      to += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      append_u(to, byte);
    } else if (length == 1) {
      to.push_back(text[0]);
    } else {
      to.append(text.substr(0, length));
    }
    text.remove_prefix(length ? length : 1);
  }
  to.push_back('"');
}

std::string json_string(std::string_view text) {
  std::string quoted;
  append_json_string(quoted, text);
  return quoted;
}

std::string with_readable_bytes(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const std::size_t escape = json.find('\\');
    out.append(json.substr(0, escape));
    if (escape == std::string_view::npos) break;
    json.remove_prefix(escape);
    if (json.starts_with("\\udc") && json.size() >= 6) {
      out += "\\\\x";
      out.append(json.substr(4, 2));
      json.remove_prefix(6);
    } else {
      out.append(json.substr(0, 2));
      json.remove_prefix(std::min<std::size_t>(2, json.size()));
    }
  }
  return out;
}

}  // namespace tfile
