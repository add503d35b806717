// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// A number in fixed notation with at most two decimals, which is more than a screen shows; 0 for what is none.
void append_number(std::string& to, double value);

// ` name="value"`
void append_attribute(std::string& to, std::string_view name, double value);

// The first character of `text` (not empty), escaped for XML and HTML, U+FFFD for what is no UTF-8 or not allowed
// there; gives the bytes that it took.
std::size_t append_markup_character(std::string& to, std::string_view text);

// A whole text, so.
void append_markup(std::string& to, std::string_view text);

}  // namespace tfilefs
