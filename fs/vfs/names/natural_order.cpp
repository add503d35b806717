// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/natural_order.h"

#include <compare>
#include <cstddef>

namespace tfilefs {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// Takes the digits at the beginning of a text, without zeros in front; nothing: there are none.
std::string_view take_digits(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && is_decimal(text[size])) ++size;
  std::string_view digits = text.substr(0, size);
  text.remove_prefix(size);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

// Numbers of any length: no type holds them all.
std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

}  // namespace

bool is_before(std::string_view a, std::string_view b) {
  std::string_view left = a, right = b;
  while (!left.empty() && !right.empty()) {
    std::strong_ordering order = std::strong_ordering::equal;
    if (is_decimal(left.front()) && is_decimal(right.front())) {
      const std::string_view number = take_digits(left), other = take_digits(right);
      order = compare_numbers(number, other);
    } else {
      order = static_cast<unsigned char>(left.front()) <=> static_cast<unsigned char>(right.front());
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
    if (order != 0) return order < 0;
  }
  return left.empty() && right.empty() ? a < b : left.empty();
}

}  // namespace tfilefs
