// SPDX-License-Identifier: Apache-2.0
#include "http/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "descriptor.h"
#include "http/exchange.h"
#include "http/microhttpd.h"
#include "http/served_connections.h"
#include "tfile/local_file.h"
#include "tfile/percent_text.h"

namespace tfilefs {
namespace {

HttpRequest request_of(const Microhttpd& library, MHD_Connection* connection, const char* url, const char* method) {
  HttpRequest request{method, url};
  const auto take = [](void* to, MHD_ValueKind kind, const char* key, const char* value) -> MHD_Result {
    auto& into = *static_cast<HttpRequest*>(to);
    const char* const text = value ? value : "";
    if (kind == MHD_HEADER_KIND)
      into.headers.emplace_back(key, text);
    else
      into.query.emplace_back(tfile::percent_decoded(key).value_or(""), tfile::percent_decoded(text).value_or(""));
    return MHD_YES;
  };
  for (const MHD_ValueKind kind : {MHD_HEADER_KIND, MHD_GET_ARGUMENT_KIND})
    (void)library.get_connection_values(connection, kind, take, &request);
  return request;
}

// The library gives each argument some memory of the request, and never answers when there is none left. So what may be
// too much for it is answered here, before it looks at them.
void* on_target(void* server, const char* target, MHD_Connection* connection) noexcept {
  constexpr std::ptrdiff_t kArgumentsMost = 64;
  const auto& connections = *static_cast<ServedConnections*>(server);
  const std::string_view all = target ? target : "";
  const std::size_t query = all.find('?');
  if (query == std::string_view::npos) return nullptr;
  const bool fits =
      all.size() <= connections.limits.request_bytes / 3 && std::ranges::count(all.substr(query), '&') < kArgumentsMost;
  if (fits) return nullptr;
  constexpr std::string_view kTooLong =
      "HTTP/1.1 414 URI Too Long\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 19\r\n\r\n"
      "too many arguments\n";
  const int socket = connections.library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  (void)::send(socket, kTooLong.data(), kTooLong.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_RDWR);  // the library sees the end, and closes it
  return nullptr;
}

MHD_Result on_request(void* server, MHD_Connection* connection, const char* url, const char* method,
                      const char* version, const char*, std::size_t* upload_size, void** exchange) noexcept {
  auto& connections = *static_cast<ServedConnections*>(server);
  try {
    if (auto* const known = static_cast<Exchange*>(*exchange)) return known->go_on(std::exchange(*upload_size, 0));
    HttpRequest request = request_of(connections.library, connection, url, method);
    request.is_http_1_1 = version == std::string_view("HTTP/1.1");
    auto made = std::make_unique<Exchange>(connections, connection, std::move(request));
    *exchange = made.get();
    return made.release()->take_headers();
  } catch (...) {  // no memory
    return MHD_NO;
  }
}

void on_request_end(void*, MHD_Connection*, void** exchange, MHD_RequestTerminationCode) noexcept {
  const std::unique_ptr<Exchange> over(static_cast<Exchange*>(std::exchange(*exchange, nullptr)));
  if (over) over->end();
}

void on_connection(void* server, MHD_Connection* connection, void** client, MHD_ConnectionNotificationCode code) {
  auto& connections = *static_cast<ServedConnections*>(server);
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    const auto* const info = connections.library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    auto* const added = connections.watch.add(info->connect_fd);
    connections.watch.await_request(added, connections.limits.request_time);
    *client = added;
  } else {
    connections.watch.remove(static_cast<ClientWatch::Client*>(*client));
  }
}

// A thread of the library that finds 128 events at once waits for more before it looks at any: for ever, if these were
// the ends of all its connections. So a thread has fewer; its own two descriptors, of listening and of waking, count.
unsigned threads_for(unsigned connections) {
  constexpr unsigned kThreadsMost = 4, kConnectionsOfThread = 128 - 2 - 1;
  const unsigned at_least = (connections + kConnectionsOfThread - 1) / kConnectionsOfThread;
  return std::max(std::clamp(std::thread::hardware_concurrency(), 2U, kThreadsMost), at_least);
}

// Targets are decoded by parse_request_path(), which sees what stood there.
std::size_t leave_encoded(void*, MHD_Connection*, char* text) { return std::strlen(text); }

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpService& service, const Listening& listening,
                                                      const HttpLimits& limits) {
  TRY(const Microhttpd* const library, microhttpd());
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::unique_ptr<ServedConnections>(new ServedConnections{service, *library, limits})));
  const int socket = ::fcntl(listening.descriptor(), F_DUPFD_CLOEXEC, 0);  // the library closes it
  if (socket < 0) return tfile::system_error("cannot serve", errno);
  const unsigned threads = threads_for(limits.connections);
  const auto idle = static_cast<unsigned>(limits.idle_time().count());
  server->daemon_ = library->start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr, on_request,
      server->connections_.get(), MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_THREAD_POOL_SIZE, threads,
      MHD_OPTION_CONNECTION_LIMIT, limits.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.request_bytes,
      MHD_OPTION_CONNECTION_TIMEOUT, idle, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, on_request_end,
      nullptr, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server->connections_.get(), MHD_OPTION_UNESCAPE_CALLBACK,
      leave_encoded, nullptr, MHD_OPTION_URI_LOG_CALLBACK, on_target, server->connections_.get(), MHD_OPTION_END);
  if (!server->daemon_) return tfile::system_error("cannot serve", errno);
  return server;
}

HttpServer::HttpServer(std::unique_ptr<ServedConnections> connections) : connections_(std::move(connections)) {}

HttpServer::~HttpServer() {
  if (!daemon_) return;
  const Descriptor socket(connections_->library.quiesce_daemon(daemon_));
  // A suspended connection must not be there when the library stops.
  connections_->gate->close();
  connections_->watch.stop_all();
  connections_->gate->wait_until_empty();
  connections_->library.stop_daemon(daemon_);
}

}  // namespace tfilefs
