// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <utility>

#include "descriptor.h"
#include "reply.h"

namespace tfilefs {

// The address of a server: a host and a port, a socket of the file system, or one that systemd hands over.
struct ListenAddress {
  std::string host, port;  // "127.0.0.1", "0"
  std::string path;        // else empty
  bool is_handed_over = false;
};

// "ADDR:PORT", with the address of IPv6 in brackets, "unix:PATH", or "systemd". Errors: invalid.
Result<ListenAddress> parse_listen_address(std::string_view);

// A socket that listens. One of the file system that was made here can be used by its owner alone, and goes with this.
class Listening {
 public:
  // Blocks. Errors: io (the address is in use, or not of this machine), exists (PATH is something else than a socket
  // that nobody listens on), invalid (systemd has handed over no socket, or one that cannot be served on).
  static Result<Listening> at(const ListenAddress&);

  Listening(Listening&&) = default;
  Listening& operator=(Listening&&) = delete;
  ~Listening();

  int descriptor() const { return socket_.get(); }
  // "http://127.0.0.1:4321"; of a socket of the file system "http+unix://%2Ftmp%2Fx".
  const std::string& origin() const { return origin_; }
  int port() const { return port_; }  // 0: none
  // Whether other machines may reach it.
  bool is_open_to_others() const { return is_open_to_others_; }

 private:
  Listening() = default;
  static Result<Listening> at_path(const std::string& path);
  static Result<Listening> at_port(const ListenAddress&);
  static Result<Listening> handed_over();
  // Takes the port from the socket's own address.
  void take_port(const sockaddr_storage& bound);

  Descriptor socket_;
  std::string origin_, path_;
  std::pair<dev_t, ino_t> inode_{};  // of the socket at path_
  int port_ = 0;
  bool is_open_to_others_ = false;
};

// The name of this machine, as it calls itself; empty if it has none.
std::string own_host_name();

}  // namespace tfilefs
