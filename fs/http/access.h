// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reply.h"

namespace tfilefs {

// 32 letters, digits, '-' and '_', from the kernel's random numbers. Error: io.
Result<std::string> make_token();

// A token that a user gives: at least 16 of the characters that stand in a URL and a cookie as they are.
bool is_good_token(std::string_view);

// The places where a client may show the token. Those that it does not send are empty.
struct Credentials {
  std::optional<std::string> authorization{};  // "Bearer TOKEN", or "Basic ..." with the token as password
  std::optional<std::string> cookie{};         // the header
  std::optional<std::string> query{};          // of the URL: ?token=
};

// `cookie_name`: see there. Takes the same time wherever a wrong token differs.
bool shows_token(const Credentials&, std::string_view token, std::string_view cookie_name);

// Cookies do not tell ports apart, so that its name does.
std::string cookie_name(int port);
// The header that gives it to a browser, for this site alone and not for its scripts.
std::string set_cookie(std::string_view token, std::string_view name);

// Whether the header "Host" names this server: by an address, as localhost, or by one of `names`. A page of another
// site whose name was made to lead to this machine (DNS rebinding) sends that name.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

// Whether the header "Origin" is of a page of this server. `host`: the header of the same request.
bool is_own_origin(std::string_view origin, std::string_view host);

}  // namespace tfilefs
