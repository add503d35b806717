// SPDX-License-Identifier: Apache-2.0
#include "printable.h"

#include <algorithm>
#include <array>

#include "tfile/json_text.h"

namespace tfilefs {
namespace {

using tfile::utf8_length;

struct Characters {
  char32_t first, last;
};

// Characters of Unicode that are invisible but move the text around them.
constexpr std::array<Characters, 7> kControls = {{
    {0x0000, 0x001f},  // C0
    {0x007f, 0x009f},  // DEL and C1
    {0x061c, 0x061c},  // Arabic letter mark
    {0x200e, 0x200f},  // left-to-right and right-to-left marks
    {0x2028, 0x2029},  // line and paragraph separators
    {0x202a, 0x202e},  // embeddings and overrides
    {0x2066, 0x2069},  // isolates
}};

// The code point of one character, which is known to be whole UTF-8.
char32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) code = code << 6 | (byte(i) & 0x3f);
  return code;
}

}  // namespace

std::size_t control_length(std::string_view text) {
  if (text.empty()) return 0;
  const std::size_t length = utf8_length(text);
  const char32_t code = length ? code_point(text.substr(0, length)) : static_cast<unsigned char>(text[0]);
  const bool is_control = std::any_of(kControls.begin(), kControls.end(), [&](const Characters& among) {
    return code >= among.first && code <= among.last;
  });
  return is_control ? std::max<std::size_t>(length, 1) : 0;
}

void append_escaped(std::string& to, std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    to += "\\x";
    to.push_back(kHex[byte >> 4]);
    to.push_back(kHex[byte & 0xf]);
  }
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t control = control_length(text);
    const std::size_t taken = control ? control : std::max<std::size_t>(utf8_length(text), 1);
    if (!control) out += text.substr(0, taken);
    append_escaped(out, text.substr(0, control));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace tfilefs
