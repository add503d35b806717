// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tfile {

// A directory entry has at most 255 bytes; views append up to 8 (".parquet").
inline constexpr std::size_t kNameMax = 255 - 8;

// Whether a file of this name and suffix (".i8"), or a directory (without suffix), can make a list, text or variant
// of the directory around it. member_names.h says which members of records are shown with their first byte escaped.
bool is_layout_name(std::string_view name, std::string_view suffix);

// "values" -> "%76alues". For names of the layout, unescape_name is its inverse.
std::string escape_first_byte(std::string_view name);

// The path component, without suffix, of a member that is; that of escape_name for other names.
std::string member_component(std::string_view name, std::string_view suffix);

// The path component for `name`. It is escaped only where necessary: '/', NUL, '%' before two hex digits, a leading
// dot, the empty name. If it is longer than `size_max` bytes, it is cut at a UTF-8 boundary and gets "~" and 8 hex
// digits of XXH64. See docs/semantics/layout.md, "Names".
std::string escape_name(std::string_view name, std::size_t size_max = kNameMax);

// The name for which `component` stands. If escape_name(result) differs from `component`, escape_name did not make it.
std::string unescape_name(std::string_view component);

// escape_name for all names of one directory together. If several still collide, the first stays plain and the others
// get "~hash" of the original name (and "~hash~2", ... if even these collide). `suffixes[i]`, e.g. ".f4x3", is appended
// after the cut and takes part in the comparison; an empty span means no suffixes. The result has the length and order
// of `names`.
std::vector<std::string> directory_names(std::span<const std::string_view> names,
                                         std::span<const std::string> suffixes = {});

}  // namespace tfile
