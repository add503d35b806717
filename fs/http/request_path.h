// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tfilefs {

// The path of a request: names below the root of the source. None of them is empty, "." or "..", or has a slash or a
// NUL in it.
struct RequestPath {
  std::vector<std::string> names;
  bool ends_in_slash = true;  // as that of a directory
};

// Parses the target of a request, without the query and its '?'. Nothing if it is no such path.
std::optional<RequestPath> parse_request_path(std::string_view target);

// "/" + the names, encoded. `is_directory`: with a slash at its end.
std::string url_path(const std::vector<std::string>& names, bool is_directory);

}  // namespace tfilefs
