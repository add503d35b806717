// SPDX-License-Identifier: Apache-2.0
#include "http/request.h"

#include <algorithm>

#include "http/header_text.h"

namespace tfilefs {

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  std::optional<std::string> all;
  for (const auto& [each, value] : headers)
    if (equals_without_case(each, name)) all = all ? *all + ", " + value : value;
  return all;
}

std::size_t HttpRequest::count(std::string_view name) const {
  const auto found =
      std::ranges::count_if(headers, [&](const auto& each) { return equals_without_case(each.first, name); });
  return static_cast<std::size_t>(found);
}

bool HttpRequest::is_well_framed() const {
  // "Content-Length : 5" is one for some, and none for others.
  const auto has_space = [](const auto& each) { return each.first.find_first_of(" \t") != std::string::npos; };
  if (std::ranges::any_of(headers, has_space)) return false;
  const auto length = header("Content-Length"), coding = header("Transfer-Encoding");
  if (coding) return !length && equals_without_case(*coding, "chunked");
  return !length || (!length->empty() && length->find_first_not_of("0123456789") == std::string::npos);
}

std::optional<std::string> HttpRequest::argument(std::string_view name) const {
  const auto found = std::ranges::find_if(query, [&](const auto& each) { return each.first == name; });
  return found == query.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tfilefs
