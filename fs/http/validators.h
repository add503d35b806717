// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

namespace tfilefs {

// A time as HTTP writes it: "Sun, 06 Nov 1994 08:49:37 GMT".
std::string http_date(std::time_t);
std::optional<std::time_t> parse_http_date(std::string_view);

// The tags that tell states of a file apart.
struct Validators {
  std::string etag;  // with its quotes, strong; empty: the file is another one each time it is opened
  std::time_t modified = 0;
};

// The headers with which a client says what it has. Those that it does not send are empty.
struct Conditions {
  std::optional<std::string> if_match{}, if_none_match{}, if_modified_since{}, if_unmodified_since{}, if_range{};
};

// The answer to conditions (RFC 9110, 13.2.2).
enum class Verdict : std::uint8_t { send, not_modified, failed };
Verdict verdict(const Conditions&, const Validators&);

// Whether a range may be sent: the client has the rest of the same state (If-Range), or does not say what it has. A
// date tells a state if it is older than `now` by more than the second that it counts in.
bool may_send_range(const Conditions&, const Validators&, std::time_t now);

}  // namespace tfilefs
