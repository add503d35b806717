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

#include "exec/trampoline.h"
#include "tfile/local_file.h"

namespace tfilefs {
namespace {

constexpr std::size_t kSealedPieceSize = 1 << 20;  // as the kernel's largest read: the cache reads ahead as for a mount

class MemoryFill : public std::enable_shared_from_this<MemoryFill> {
 public:
  MemoryFill(ResponseBody body, Descriptor memory, Reply<Descriptor> reply)
      : body_(std::move(body)), memory_(std::move(memory)), reply_(std::move(reply)) {}

  void go_on() {
    const auto self = shared_from_this();
    loop_.next([&] { self->ask(); });
  }

 private:
  void ask() {
    if (at_ == body_.size()) return finish();
    auto take = [self = shared_from_this()](Result<Slices> piece) { self->take(std::move(piece)); };
    body_.read(at_, kSealedPieceSize, Reply<Slices>(std::move(take), reply_.stop_token()));
  }
  void take(Result<Slices> piece) {
    if (!piece) return reply_(tl::unexpected(std::move(piece).error()));
    std::vector<iovec> parts;
    for (const auto each : piece->pieces) parts.push_back({const_cast<std::byte*>(each.data()), each.size()});
    if (const int number = tfile::write_all(memory_.get(), at_, parts); number != 0)
      return reply_(tfile::system_error("memory for a client", number));
    at_ += piece->size();
    go_on();
  }
  void finish() {
    if (::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
      return reply_(tfile::system_error("memory for a client", errno));
    body_ = {};  // its file is closed before the answer, behind which a server may end
    reply_(std::move(memory_));
  }

  ResponseBody body_;
  Descriptor memory_;
  Reply<Descriptor> reply_;
  std::uint64_t at_ = 0;
  Trampoline loop_;
};

}  // namespace

void seal_in_memory(ResponseBody body, Reply<Descriptor> reply) {
  Descriptor memory(::memfd_create("tfilefs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) return reply(tfile::system_error("memory for a client", errno));
  std::make_shared<MemoryFill>(std::move(body), std::move(memory), std::move(reply))->go_on();
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
