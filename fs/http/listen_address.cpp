// SPDX-License-Identifier: Apache-2.0
#include "http/listen_address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "tfile/local_file.h"
#include "tfile/percent_text.h"

namespace tfilefs {
namespace {

using tfile::fail;

constexpr int kWaitingMost = 128;  // connections that were not accepted yet

tl::unexpected<Error> cannot_listen(const std::string& where) {
  const int number = errno;
  return tfile::system_error("cannot listen on " + where, number);
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(address);
    return (ntohl(in.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

bool is_any_address(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr == INADDR_ANY;
  return IN6_IS_ADDR_UNSPECIFIED(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

// As it stands in a URL.
std::string shown_host(const sockaddr_storage& address) {
  if (is_any_address(address)) {
    const std::string own = own_host_name();
    return own.empty() ? "localhost" : own;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET)
    return ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(), text.size());
  ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text.data(), text.size());
  return std::string("[") + text.data() + "]";
}

// "/run/x"; in Linux's abstract namespace with an @ in front.
std::string path_of(const sockaddr_un& address, socklen_t size) {
  const std::size_t begin = offsetof(sockaddr_un, sun_path);
  std::string path(address.sun_path, size > begin ? size - begin : 0);
  if (path.empty()) return path;
  if (path.front() == '\0') return "@" + path.substr(1);
  return path.c_str();  // up to the NUL
}

// A socket that was left by a server that is gone.
Result<> remove_dead_socket(const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(address.sun_path, &status) != 0) return {};
  const std::string path = address.sun_path;
  if (!S_ISSOCK(status.st_mode)) return fail(ErrorKind::exists, path + ": exists, and is no socket");
  const Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno != ECONNREFUSED)
    return fail(ErrorKind::exists, path + ": another server listens on it");
  ::unlink(address.sun_path);
  return {};
}

// The one socket that systemd gave this process (sd_listen_fds(3)); the variables that say so go, so that no child of
// this process takes it for its own.
Result<Descriptor> socket_of_systemd() {
  const auto take = [](const char* name) {
    const char* const value = std::getenv(name);
    const std::string text = value ? value : "";
    ::unsetenv(name);
    return text;
  };
  const std::string process = take("LISTEN_PID"), count = take("LISTEN_FDS");
  take("LISTEN_FDNAMES");
  constexpr int kFirstHandedOver = 3;
  if (count.empty() || process != std::to_string(::getpid()))
    return fail(ErrorKind::invalid,
                "--listen systemd: no socket was handed over: this is for a service with a .socket unit");
  if (count != "1")
    return fail(ErrorKind::invalid, "--listen systemd: " + count + " sockets were handed over, and not one");
  if (::fcntl(kFirstHandedOver, F_SETFD, FD_CLOEXEC) != 0)
    return tfile::system_error("--listen systemd: descriptor 3", errno);
  return Descriptor(kFirstHandedOver);
}

std::pair<dev_t, ino_t> inode_at(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? std::pair(status.st_dev, status.st_ino) : std::pair<dev_t, ino_t>();
}

}  // namespace

std::string own_host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  ListenAddress address;
  if (text == "systemd") {
    address.is_handed_over = true;
    return address;
  }
  if (text.starts_with(kUnix)) {
    address.path = text.substr(kUnix.size());
    if (address.path.empty()) return fail(ErrorKind::invalid, "--listen: unix: needs a path");
    return address;
  }
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const bool is_in_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  constexpr std::size_t kPortDigits = 5;
  const bool is_port = !port.empty() && port.size() <= kPortDigits &&
                       port.find_first_not_of("0123456789") == std::string_view::npos &&
                       std::stoi(std::string(port)) <= UINT16_MAX;
  if (host.empty() || !is_port || (!is_in_brackets && host.find(':') != std::string_view::npos))
    return fail(ErrorKind::invalid,
                "--listen: " + std::string(text) + " is not ADDR:PORT, [ADDR]:PORT, unix:PATH or systemd");
  address.host = is_in_brackets ? host.substr(1, host.size() - 2) : host;
  address.port = port;
  return address;
}

Result<Listening> Listening::at(const ListenAddress& address) {
  if (address.is_handed_over) return handed_over();
  return address.path.empty() ? at_port(address) : at_path(address.path);
}

Result<Listening> Listening::at_path(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return fail(ErrorKind::invalid, path + ": too long for a socket");
  std::memcpy(address.sun_path, path.data(), path.size());
  TRY_VOID(remove_dead_socket(address));
  Listening listening;
  listening.socket_ = Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::bind(listening.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return cannot_listen(path);
  listening.path_ = path;
  listening.inode_ = inode_at(path);
  // Before anybody can connect.
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(listening.descriptor(), kWaitingMost) != 0)
    return cannot_listen(path);
  listening.origin_ = "http+unix://" + tfile::percent_encoded(path);
  return listening;
}

Result<Listening> Listening::at_port(const ListenAddress& address) {
  const std::string where = address.host + ":" + address.port;
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int code = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found); code != 0)
    return fail(ErrorKind::io, "cannot listen on " + where + ": " + ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> held(found, ::freeaddrinfo);
  Listening listening;
  listening.socket_ = Descriptor(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  (void)::setsockopt(listening.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listening.descriptor(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(listening.descriptor(), kWaitingMost) != 0)
    return cannot_listen(where);
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(listening.descriptor(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return cannot_listen(where);
  listening.take_port(bound);
  return listening;
}

Result<Listening> Listening::handed_over() {
  Listening listening;
  TRY(listening.socket_, socket_of_systemd());
  int type = 0, listens = 0;
  socklen_t type_size = sizeof type, listens_size = sizeof listens;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  const int socket = listening.descriptor();
  if (::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &type_size) != 0 ||
      ::getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_size) != 0 ||
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return cannot_listen("what systemd handed over");
  const int flags = ::fcntl(socket, F_GETFL);
  const bool is_known = bound.ss_family == AF_UNIX || bound.ss_family == AF_INET || bound.ss_family == AF_INET6;
  if (type != SOCK_STREAM || listens == 0 || !is_known || flags < 0)
    return fail(ErrorKind::invalid, "--listen systemd: what was handed over is no stream socket that listens");
  if (::fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0) return cannot_listen("what systemd handed over");
  if (bound.ss_family == AF_UNIX)
    listening.origin_ =
        "http+unix://" + tfile::percent_encoded(path_of(reinterpret_cast<const sockaddr_un&>(bound), size));
  else
    listening.take_port(bound);
  return listening;
}

void Listening::take_port(const sockaddr_storage& bound) {
  port_ = ntohs(bound.ss_family == AF_INET ? reinterpret_cast<const sockaddr_in&>(bound).sin_port
                                           : reinterpret_cast<const sockaddr_in6&>(bound).sin6_port);
  is_open_to_others_ = !is_loopback(bound);
  origin_ = "http://" + shown_host(bound) + ":" + std::to_string(port_);
}

Listening::~Listening() {
  // Another server may have taken the path since.
  if (!path_.empty() && socket_ && inode_at(path_) == inode_) ::unlink(path_.c_str());
}

}  // namespace tfilefs
