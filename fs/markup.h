// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfilefs {

// Appends the first character of `text` (not empty), escaped for XML and HTML; U+FFFD for bytes that are not UTF-8 or
// not allowed there. Returns the number of bytes consumed.
std::size_t append_markup_character(std::string& to, std::string_view text);

// The same for a whole text.
void append_markup(std::string& to, std::string_view text);

// Text that stands in HTML, between tags and in attributes with quotes, as it is.
std::string html_escaped(std::string_view);

}  // namespace tfilefs
