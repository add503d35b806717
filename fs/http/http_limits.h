// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace tfilefs {

// The most that clients may take of a server.
struct HttpLimits {
  unsigned connections = 256;
  std::size_t request_bytes = 32 << 10;   // of a request without its body, and of what is sent beside a body
  std::size_t block_bytes = 128 << 10;    // of a body, on its way to a client
  std::size_t upload_bytes = 64 << 10;    // of a request's body, which nothing here needs
  std::chrono::seconds request_time{30};  // for a client to send all of a request, or the next one
  std::chrono::seconds block_time{120};   // for a client to take one block

  // After which the library ends a connection on which nothing happens.
  std::chrono::seconds idle_time() const { return std::max(request_time, block_time); }
};

}  // namespace tfilefs
