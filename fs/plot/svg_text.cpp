// SPDX-License-Identifier: Apache-2.0
#include "plot/svg_text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace tfilefs {

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

}  // namespace tfilefs
