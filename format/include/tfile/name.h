// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tfile {

// The longest name a directory entry may have is 255 bytes; views append up to 8 (".parquet").
inline constexpr std::size_t kNameMax = 255 - 8;

// A directory with `offsets.i8` is a list: a column of numbers of that name and type has the other stem.
inline constexpr std::string_view kOffsetsStem = "offsets", kEscapedOffsetsStem = "%6Fffsets";

// The path component that stands for `name`: escaped only where it must be ('/', NUL, '%' before two hex digits, a
// leading dot, the empty name), cut at a UTF-8 boundary with "~" and 8 hex digits of XXH64 when longer than
// `size_max` bytes. docs/semantics.md, "Names".
std::string escape_name(std::string_view name, std::size_t size_max = kNameMax);

// The name that `component` stands for. Only what escape_name(result) gives back is a component that it wrote.
std::string unescape_name(std::string_view component);

// escape_name for all names of one directory at once: of those that still collide the first stays plain, the others
// get "~hash" of the original (and "~hash~2", ... where even these collide). `suffixes[i]`, e.g. ".f4x3", is appended
// after the cut and takes part in the comparison; empty span for none. Equal order and length as `names`.
std::vector<std::string> directory_names(std::span<const std::string_view> names,
                                         std::span<const std::string> suffixes = {});

}  // namespace tfile
