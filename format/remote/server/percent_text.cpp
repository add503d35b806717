// SPDX-License-Identifier: Apache-2.0
#include "tfile/percent_text.h"

namespace tfile {
namespace {

// -1: no digit.
int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// The same in every URL: RFC 3986, 2.3.
bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("-._~").find(c) != std::string_view::npos;
}

// The byte of "%XX" at `at`; -1: there is none.
int encoded_byte(std::string_view text, std::size_t at) {
  const int high = text[at] == '%' && at + 2 < text.size() ? hex_value(text[at + 1]) : -1;
  const int low = high >= 0 ? hex_value(text[at + 2]) : -1;
  return low < 0 ? -1 : high * 16 + low;
}

}  // namespace

std::string percent_encoded(std::string_view text, std::string_view also_plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || also_plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return encoded;
}

std::string percent_decoded_parts(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int byte = encoded_byte(text, i);
    plain += byte < 0 ? text[i] : static_cast<char>(byte);
    if (byte >= 0) i += 2;
  }
  return plain;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && encoded_byte(text, i) < 0) return std::nullopt;
  }
  return percent_decoded_parts(text);
}

}  // namespace tfile
