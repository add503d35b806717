// SPDX-License-Identifier: Apache-2.0
#include "view/plain_text.h"

#include <cstdint>

namespace tfilefs {

void append_plain(std::string& to, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    // U+0080 to U+009F, the second set of control characters, is C2 80 to C2 9F.
    const bool c1 = byte == 0xc2 && i + 1 < text.size() && (static_cast<std::uint8_t>(text[i + 1]) & 0xe0) == 0x80;
    if (byte == '\\') {
      to += "\\\\";
    } else if (byte == '\n') {
      to += "\\n";
    } else if (byte == '\t') {
      to += "\\t";
    } else if (byte == '\r') {
      to += "\\r";
    } else if (byte < 0x20 || byte == 0x7f || c1) {
      to += "\\x";
      to.push_back(kHex[byte >> 4]);
      to.push_back(kHex[byte & 0xf]);
      if (c1) {
        const auto second = static_cast<std::uint8_t>(text[++i]);
        to += "\\x";
        to.push_back(kHex[second >> 4]);
        to.push_back(kHex[second & 0xf]);
      }
    } else {
      to.push_back(text[i]);
    }
  }
}

}  // namespace tfilefs
