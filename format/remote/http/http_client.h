// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "remote/http/aws_keys.h"
#include "remote/http/byte_ranges.h"
#include "tfile/result.h"

namespace tfile {

// The head of an answer, before its body.
struct HttpHead {
  long status = 0;
  std::optional<std::uint64_t> length;  // of the body
  std::optional<ContentRange> range;
  bool is_multipart = false;
  std::string boundary;             // of its parts; empty: not told
  bool is_encoded = false;          // compressed, although that was not asked for
  bool contradicts_itself = false;  // a line comes twice and says two things
  std::string etag;
  std::int64_t modified_ns = 0;  // since the epoch; 0: not told
  std::chrono::seconds retry_after{0};
};

// How an exchange ended. Trouble is passing (asking again may help), or the server cannot be reached, or it is lasting.
struct HttpEnd {
  enum class Trouble : std::uint8_t { none, passing, unreachable, lasting };
  Trouble trouble = Trouble::none;
  std::optional<Error> error;          // io or timed_out: no whole answer came
  std::chrono::microseconds delay{0};  // from the request to the first byte of the answer
  std::chrono::microseconds body{0};   // from then to its end
  std::uint64_t bytes = 0;             // of the body
  std::string url;                     // where redirects led
  std::uint64_t redirects = 0;         // how many were followed
  bool is_multiplexed = false;         // HTTP/2 and later: many requests at once on one connection
};

// A request, and what is done with its answer. The functions are called one at a time on the client's thread, and must
// not block. A redirect is followed before any of them is called.
struct HttpRequest {
  std::string url;
  std::string method;                                       // empty: GET
  std::string body;                                         // of the request
  std::vector<std::string> headers;                         // whole lines
  std::chrono::milliseconds silence{0};                     // the longest time without a byte
  std::chrono::milliseconds after{0};                       // the time to wait before it is sent
  std::stop_token stop;                                     // ends it
  std::string token;                                        // for the URL's own host; empty: none
  std::optional<AwsKeys> aws;                               // the same: signs the request
  std::function<bool(const HttpHead&)> on_head;             // false: the body is not wanted
  std::function<bool(std::span<const std::byte>)> on_body;  // false: enough
  std::function<void(const HttpEnd&)> on_end;               // once, at the end
};

// Sends a request. All requests of the process share connections, and a thread, which starts with the first of them. If
// it cannot be made, on_end is called before this returns. Any thread.
void send(HttpRequest);

}  // namespace tfile
