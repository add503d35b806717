// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "reply.h"

namespace tfilefs {

struct ServeRequest {
  std::vector<std::string> sources;
  MountOptions options;
  std::string listen = "127.0.0.1:0";  // as parse_listen_address()
  std::vector<std::string> hosts;      // ServiceSettings::hosts
  std::string token;                   // empty: a random one
  std::chrono::seconds request_time{30};
  std::chrono::milliseconds linger{0};  // it ends so long after the last end of `lifeline` was closed
};

// The address of a server.
struct ServedAt {
  std::string origin;  // "http://127.0.0.1:4321"
  std::string token;
  int port = 0;  // 0: a socket of the file system
  bool is_open_to_others = false;
};

// Prints the URL of a place of it, and warns where others can connect. What a program that started this one reads: the
// first line is a URL. Errors: io.
Result<> tell_url(const ServedAt&, const std::string& place);

// Serves by HTTP until a signal ends it. `ready`: it answers; an error of it ends it. Blocks. Errors: those of
// FileSystem::open, of http/http_server.h and of `ready`; invalid.
Result<> serve_source(ServeRequest, const std::function<Result<>(const ServedAt&)>& ready);

// The first line of a file. Errors: io; invalid (not a token, see http/access.h).
Result<std::string> read_token(const std::string& file);

}  // namespace tfilefs
