// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfilefs {

// Bytes of the character at the beginning of a text if it is one that speaks to a terminal or changes how what is
// around it looks: controls (C0, DEL, C1), marks of direction, ends of lines and paragraphs; 0 for any other.
std::size_t control_length(std::string_view text);

// Each byte as \xNN.
void append_escaped(std::string& to, std::string_view bytes);

// What a terminal may be shown of any bytes: such characters as \xNN, byte by byte, so that a hostile name cannot forge
// a line, hide a part of itself, or give a command. Control bytes of eight bits, which are no UTF-8, too.
std::string printable(std::string_view text);

}  // namespace tfilefs
