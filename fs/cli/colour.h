// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

enum class Colour : unsigned char { none, red, green, yellow, blue };

// Whether what is printed on standard output has colours: on a terminal that has some, unless NO_COLOR is set
// (no-color.org).
bool has_colours();

// The text in bold letters of a colour, as terminals take it. Pure.
std::string coloured(std::string_view text, Colour);

}  // namespace tfilefs
