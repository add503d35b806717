// SPDX-License-Identifier: Apache-2.0
#include "view/plain_text.h"

#include <cstdint>

#include "printable.h"
#include "tfile/json_text.h"

namespace tfilefs {

using tfile::utf8_length;

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

}  // namespace tfilefs
