// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/response_body.h"

namespace tfilefs {

// A request as it came: nothing in it is to be trusted.
struct HttpRequest {
  std::string method;                                          // "GET"
  std::string target;                                          // encoded; without the query
  std::vector<std::pair<std::string, std::string>> headers{};  // in any case
  std::vector<std::pair<std::string, std::string>> query{};    // decoded: name and value
  bool is_http_1_1 = false;

  // All of that name, with commas between: RFC 9110, 5.3.
  std::optional<std::string> header(std::string_view name) const;
  // How many of that name there are.
  std::size_t count(std::string_view name) const;
  // Whether its headers tell in one way where it ends: by one length, or in chunks.
  bool is_well_framed() const;
  // The first of that name.
  std::optional<std::string> argument(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  ResponseBody body;
};

}  // namespace tfilefs
