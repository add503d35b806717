// SPDX-License-Identifier: Apache-2.0
#include "tfile/member_names.h"

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

}  // namespace tfile
