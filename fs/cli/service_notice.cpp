// SPDX-License-Identifier: Apache-2.0
#include "cli/service_notice.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "descriptor.h"

namespace tfilefs {

ServiceNotice::ServiceNotice() {
  const char* const named = std::getenv("NOTIFY_SOCKET");
  socket_ = named ? named : "";
  ::unsetenv("NOTIFY_SOCKET");
}

void ServiceNotice::tell(const std::string& lines) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (socket_.front() == '@') address.sun_path[0] = '\0';  // in Linux's abstract namespace
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  (void)::sendto(socket.get(), lines.data(), lines.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace tfilefs
