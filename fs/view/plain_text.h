// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// Appends text with control characters (and the backslash that announces them) escaped as in C: a string from a file
// never breaks a line and never reaches a terminal as an escape sequence. Bytes that are not UTF-8 are kept.
void append_plain(std::string& to, std::string_view text);

// A string in CSV (RFC 4180) is its start, its text in parts, and a quote. The start is a quote and, if a spreadsheet
// would run the text as a formula, an apostrophe.
void append_csv_start(std::string& to, std::string_view text);
void append_csv(std::string& to, std::string_view part);

}  // namespace tfilefs
