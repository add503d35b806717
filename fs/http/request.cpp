// SPDX-License-Identifier: Apache-2.0
#include "http/request.h"

#include <algorithm>

#include "http/header_text.h"

namespace tfilefs {

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  const auto found =
      std::ranges::find_if(headers, [&](const auto& each) { return equals_without_case(each.first, name); });
  return found == headers.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> HttpRequest::argument(std::string_view name) const {
  const auto found = std::ranges::find_if(query, [&](const auto& each) { return each.first == name; });
  return found == query.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tfilefs
