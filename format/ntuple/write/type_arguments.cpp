// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/type_arguments.h"

#include <algorithm>

namespace tfile {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = text.find_last_not_of(' ');
  return end == text.npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

}  // namespace

std::string_view template_name(std::string_view type) { return type.substr(0, type.find('<')); }

std::optional<std::vector<std::string>> template_arguments(std::string_view type) {
  type = trimmed(type);
  const std::size_t open = type.find('<');
  if (open == type.npos || type.back() != '>') return std::nullopt;
  std::vector<std::string> arguments;
  std::size_t begin = open + 1, depth = 1;
  for (std::size_t i = begin; i < type.size(); ++i) {
    if (type[i] == '<') ++depth;
    if (type[i] == '>' && --depth == 0 && i + 1 != type.size()) return std::nullopt;
    if (depth > 1 || (type[i] != ',' && i + 1 != type.size())) continue;
    arguments.emplace_back(trimmed(type.substr(begin, i - begin)));
    begin = i + 1;
  }
  return depth == 0 ? std::optional(std::move(arguments)) : std::nullopt;
}

std::optional<std::vector<std::string>> arguments_of(std::string_view name, std::string_view type) {
  return trimmed(template_name(type)) == name ? template_arguments(type) : std::nullopt;
}

}  // namespace tfile
