// SPDX-License-Identifier: Apache-2.0
#include "cli/served_source.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include "cli/absolute_paths.h"
#include "cli/command_line.h"
#include "cli/mount_table.h"
#include "cli/open_file_limit.h"
#include "cli/service_notice.h"
#include "cli/stop_on_signal.h"
#include "descriptor.h"
#include "http/access.h"
#include "http/http_service.h"
#include "http/listen_address.h"
#include "printable.h"
#include "tfile/source.h"
#ifdef TFILEFS_SERVE
#include "http/http_server.h"
#endif

namespace tfilefs {
namespace {

using tfile::fail;

// The directory of a socket, which a program has made that serves for itself (lifeline=): it goes with that program,
// however that ends; and what such programs put there, to find each other.
class OwnDirectory {
 public:
  OwnDirectory(const MountOptions& options, const ListenAddress& address) {
    const std::size_t slash = address.path.rfind('/');
    if (options.lifeline && slash != std::string::npos) path_ = absolute_path(address.path.substr(0, slash));
  }
  ~OwnDirectory() {
    if (path_.empty()) return;
    for (const char* const name : {"/lifeline", "/token"}) ::unlink((path_ + name).c_str());
    ::rmdir(path_.c_str());
  }
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;

 private:
  std::string path_;
};

Result<std::unique_ptr<FileSystem>> open_to_serve(ServeRequest& request, const std::string& place) {
  MountOptions& options = request.options;
  make_paths_absolute(request.sources, options);
  const std::string shown = tfile::shown_name(request.sources[0]);
  options.file_system.config_json = config_text(request.sources, place, options, ConfigForm::lines);
  options.file_system.names = {place, shown};
  return options.chain ? FileSystem::open_chain(request.sources, *options.chain, options.file_system)
                       : FileSystem::open(request.sources[0], options.file_system);
}

#ifdef TFILEFS_SERVE

// False: nothing happened in that time, if one is given.
bool poll_for(std::span<pollfd> waits, std::optional<std::chrono::milliseconds> time) {
  for (;;) {
    const int found = ::poll(waits.data(), waits.size(), time ? static_cast<int>(time->count()) : -1);
    if (found >= 0 || errno != EINTR) return found != 0;
  }
}

// Until it is to stop, or the other end of the pipe `lifeline` has been closed for so long. That of a named one may be
// opened again.
void wait_for(const std::stop_token& stop, const std::optional<int>& lifeline, std::chrono::milliseconds linger) {
  const Descriptor over(::eventfd(0, EFD_CLOEXEC));
  const std::stop_callback tell(stop, [&] { (void)::eventfd_write(over.get(), 1); });
  std::array<pollfd, 2> waits{pollfd{over.get(), POLLIN, 0}, pollfd{lifeline.value_or(-1), 0, 0}};
  const std::span<pollfd> to_stop(waits.data(), 1), closed(waits.data() + 1, 1);
  do {
    poll_for(waits, std::nullopt);
    if (waits[0].revents != 0 || poll_for(to_stop, linger)) return;
  } while (!poll_for(closed, std::chrono::milliseconds(0)));
}

Result<> run_server(const HttpService& service, const Listening& listening, const ServeRequest& request,
                    const std::function<Result<>()>& ready) {
  HttpLimits limits;
  limits.request_time = request.request_time;
  const StopOnSignal stop;
  TRY(const auto server, HttpServer::start(service, listening, limits));
  TRY_VOID(ready());
  wait_for(stop.token(), request.options.lifeline, request.linger);
  return {};
}

#else

Result<> run_server(const HttpService&, const Listening&, const ServeRequest&, const std::function<Result<>()>&) {
  return fail(ErrorKind::unsupported, "this program was built without libmicrohttpd, and cannot serve HTTP");
}

#endif

}  // namespace

Result<std::string> read_token(const std::string& file) {
  std::ifstream in(file);
  std::string token;
  if (!std::getline(in, token)) return fail(ErrorKind::io, file + ": no line can be read");
  if (!is_good_token(token))
    return fail(ErrorKind::invalid, file + ": a token is a line of 16 to 256 letters, digits, '-' and '_'");
  return token;
}

Result<> serve_source(ServeRequest request, const std::function<Result<>(const ServedAt&)>& ready) {
  if (request.options.file_system.write) return fail(ErrorKind::invalid, "what is served is only read: without -o rw");
  if (request.sources.size() > 1 && !request.options.chain)
    return fail(ErrorKind::invalid, "more than one SOURCE works only with -o chain");
  std::signal(SIGPIPE, SIG_IGN);
  allow_many_files();
  TRY(const ListenAddress address, parse_listen_address(request.listen));
  if (request.token.empty()) {
    TRY(request.token, make_token());
  }
  const OwnDirectory directory(request.options, address);
  TRY(const Listening listening, Listening::at(address));
  TRY(const auto fs, open_to_serve(request, listening.origin()));
  fs->begin_metrics_file();
  std::vector<std::string> hosts = request.hosts;
  if (listening.is_open_to_others()) hosts.push_back(own_host_name());
  const HttpService service(*fs, {request.token, cookie_name(listening.port()), hosts});
  const ServiceNotice notice;
  const std::string what = printable(tfile::shown_name(request.sources[0])) + " at " + printable(listening.origin());
  return run_server(service, listening, request, [&]() -> Result<> {
    TRY_VOID(ready({listening.origin(), request.token, listening.port(), listening.is_open_to_others()}));
    notice.tell("READY=1\nSTATUS=" + what);
    return {};
  });
}

Result<> tell_url(const ServedAt& at, const std::string& place) {
  std::printf("%s%s\n", at.origin.c_str(), place.c_str());
  TRY_VOID(finish_output());
  if (at.is_open_to_others)
    std::fprintf(stderr,
                 "tfilefs: whoever has the token reads what you may read, and others on the network see it: %s\n",
                 "put a proxy with TLS before it");
  return {};
}

}  // namespace tfilefs
