// SPDX-License-Identifier: Apache-2.0
#include "tfile/member_names.h"

#include <algorithm>

#include "tfile/name.h"

namespace tfile {

std::vector<bool> escaped_members(std::span<const std::string_view> names, std::span<const std::string> suffixes) {
  const auto is = [&](std::size_t i, std::string_view name, std::string_view suffix) {
    return names[i] == name && suffixes[i] == suffix;
  };
  bool has_tags = false, has_index = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    has_tags = has_tags || is(i, "tags", ".i1");
    has_index = has_index || is(i, "index", ".i8");
  }
  std::vector<bool> escaped(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_of_variant = is(i, "tags", ".i1") || is(i, "index", ".i8");
    escaped[i] = is(i, "offsets", ".i8") || (is_of_variant && has_tags && has_index) ||
                 (!is_of_variant && names.size() == 1 && is_layout_name(names[i], suffixes[i]));
  }
  return escaped;
}

std::string without_escaped_members(std::string_view path) {
  std::string plain;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view component = path.substr(begin, end - begin);
    const std::size_t dot = end == path.size() ? component.rfind('.') : component.npos;
    const std::string_view stem = component.substr(0, dot), suffix = component.substr(stem.size());
    const std::string name = unescape_name(stem);
    const bool is_escaped = is_layout_name(name, suffix) && stem == escape_first_byte(name);
    plain += begin > 0 ? "/" : "";
    plain += is_escaped ? name : std::string(stem);
    plain += suffix;
    begin = end + 1;
  }
  return plain;
}

}  // namespace tfile
