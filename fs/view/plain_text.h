// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// Appends text with control characters (and the backslash that announces them) escaped as in C: a string from a file
// never breaks a line and never reaches a terminal as an escape sequence. Bytes that are not UTF-8 are kept.
void append_plain(std::string& to, std::string_view text);

}  // namespace tfilefs
