// SPDX-License-Identifier: Apache-2.0
#include "http/sealed_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "exec/when_all.h"
#include "on_behalf.h"
#include "tfile/local_file.h"

namespace tfilefs {
namespace {

constexpr std::size_t kSealedPieceSize = 1 << 20;  // as the kernel's largest read: the cache reads ahead as for a mount

// A file on its way into memory.
struct MemoryFill {
  ResponseBody body;
  Descriptor memory;
  std::uint64_t filled = 0;

  Result<> add(const Slices& slices) {
    std::vector<iovec> parts;
    for (const auto each : slices.pieces) parts.push_back({const_cast<std::byte*>(each.data()), each.size()});
    if (const int number = tfile::write_all(memory.get(), filled, parts); number != 0)
      return tfile::system_error("memory for a client", number);
    filled += slices.size();
    return {};
  }
  Result<Descriptor> seal() {
    if (::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
      return tfile::system_error("memory for a client", errno);
    body = {};  // its file is closed before the answer, behind which a server may end
    return std::move(memory);
  }
};

}  // namespace

void seal_in_memory(ResponseBody body, Reply<Descriptor> reply) {
  Descriptor memory(::memfd_create("tfilefs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return reply(tfile::system_error("memory for a client", errno));
  const auto fill = std::make_shared<MemoryFill>(MemoryFill{std::move(body), std::move(memory)});
  const auto is_more = [fill] { return fill->filled < fill->body.size(); };
  const auto read = [fill](Reply<void> done) {
    const auto add = [fill](const Slices& slices) { return fill->add(slices); };
    fill->body.read(fill->filled, kSealedPieceSize, answer_with<Slices>(std::move(done), add));
  };
  while_more(is_more, 1, read, answer_with<void>(std::move(reply), [fill] { return fill->seal(); }));
}

bool takes_descriptors(int socket) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

bool pass_descriptor(int socket, int descriptor) {
  char mark = 'M';
  iovec data{&mark, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

}  // namespace tfilefs
