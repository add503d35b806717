// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <string>
#include <string_view>

namespace tfile {

// Appends `text` as a JSON string. Bytes that are not UTF-8 become \udcXX, as in Python's surrogateescape, so that no
// byte of a file is lost. JSON libraries refuse to write such bytes.
void append_json_string(std::string& to, std::string_view text);
std::string json_string(std::string_view text);

// JSON in which bytes that are not UTF-8 have become the text \xNN, for parsers that refuse \udcXX.
std::string with_readable_bytes(std::string_view json);

// The length of the valid UTF-8 sequence with which `text` begins; 0 if there is none.
std::size_t utf8_length(std::string_view text);

}  // namespace tfile
