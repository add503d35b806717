// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "http/http_limits.h"
#include "http/http_service.h"
#include "http/listen_address.h"
#include "reply.h"

struct MHD_Daemon;

namespace tfilefs {

struct ServedConnections;

// Serves HTTP/1.1 on a socket, by threads of libmicrohttpd (up to 4), none of which waits for an answer.
class HttpServer {
 public:
  // The service and the socket outlive this. Errors: io, unsupported (the library is not there). Blocks.
  static Result<std::unique_ptr<HttpServer>> start(const HttpService&, const Listening&, const HttpLimits&);
  // Ends all connections, and waits for the answers under way.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  explicit HttpServer(std::unique_ptr<ServedConnections>);

  const std::unique_ptr<ServedConnections> connections_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace tfilefs
