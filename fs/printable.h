// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tfilefs {

// Length in bytes of the character at the beginning of a text if it controls a terminal or changes how the text around
// it looks: controls (C0, DEL, C1), marks of direction, ends of lines and paragraphs. 0 for any other character.
std::size_t control_length(std::string_view text);

// Each byte as \xNN.
void append_escaped(std::string& to, std::string_view bytes);

// Any bytes in a form that is safe on a terminal: such characters become \xNN, byte by byte, so that a hostile name
// cannot forge a line, hide a part of itself, or give a command. So do control bytes of eight bits, which are not
// UTF-8.
std::string printable(std::string_view text);

}  // namespace tfilefs
