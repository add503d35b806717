// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// A number in fixed notation with at most two decimals, which is finer than a screen; 0 for numbers that are not
// finite.
void append_number(std::string& to, double value);

// ` name="value"`
void append_attribute(std::string& to, std::string_view name, double value);

// Appends the first character of `text` (not empty), escaped for XML and HTML; U+FFFD for bytes that are not UTF-8 or
// not allowed there. Returns the number of bytes consumed.
std::size_t append_markup_character(std::string& to, std::string_view text);

// The same for a whole text.
void append_markup(std::string& to, std::string_view text);

}  // namespace tfilefs
