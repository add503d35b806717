// SPDX-License-Identifier: Apache-2.0
#include "fuse/session_io.h"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "descriptor.h"
#include "fuse/operations.h"

namespace tfilefs {
namespace {

// FUSE_DIRECT_IO_ALLOW_MMAP of Linux 6.6 (include/uapi/linux/fuse.h), bit 36, which older headers do not have.
constexpr std::uint32_t kDirectIoAllowMmap = 1u << (36 - 32);

tl::unexpected<Error> not_begun(int number) {
  return tfile::fail(ErrorKind::io, std::string("the kernel did not start the FUSE session: ") + std::strerror(number),
                     -1, number);
}

// libfuse's answer to the request, taken from a socket that stands for the kernel meanwhile: libfuse before 3.13 has no
// hook for what it writes.
Result<std::size_t> answer_of(fuse_session* session, const fuse_buf& request, int kernel, std::span<std::byte> into) {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return not_begun(errno);
  const Descriptor written(ends[0]), read(ends[1]);
  const int fd = fuse_session_fd(session);
  if (::dup3(written.get(), fd, O_CLOEXEC) < 0) return not_begun(errno);
  fuse_session_process_buf(session, &request);
  if (::dup3(kernel, fd, O_CLOEXEC) < 0) return not_begun(errno);
  const ssize_t size = ::recv(read.get(), into.data(), into.size(), MSG_DONTWAIT);
  if (size < 0) return not_begun(errno);
  return static_cast<std::size_t>(size);
}

}  // namespace

bool extend_init(std::span<std::byte> answer, bool maps) {
  fuse_out_header header{};
  fuse_init_out init{};
  constexpr std::size_t kFlagsEnd = offsetof(fuse_init_out, flags2) + sizeof init.flags2;
  if (answer.size() < sizeof header + kFlagsEnd) return false;
  std::memcpy(&header, answer.data(), sizeof header);
  if (header.error != 0) return false;
  std::byte* const body = answer.data() + sizeof header;
  std::memcpy(&init, body, kFlagsEnd);
  init.flags |= FUSE_PARALLEL_DIROPS;
  if (maps) {
    init.flags |= FUSE_INIT_EXT;
    init.flags2 |= kDirectIoAllowMmap;
  }
  std::memcpy(body, &init, kFlagsEnd);
  return true;
}

Result<> answer_init(fuse_session* session, const Served& served) {
  const Descriptor kernel(::fcntl(fuse_session_fd(session), F_DUPFD_CLOEXEC, 0));
  if (!kernel) return not_begun(errno);
  fuse_buf request{};
  int number = 0;  // an errno, or less: the size of the request
  do {
    number = -fuse_session_receive_buf(session, &request);
  } while (number == EINTR && !fuse_session_exited(session));
  if (fuse_session_exited(session)) {  // by a signal: what answers requests ends at once
    std::free(request.mem);
    return {};
  }
  std::array<std::byte, 4096> answer;  // a header and some 64 bytes, more in newer versions of the protocol
  const auto size = number < 0 ? answer_of(session, request, kernel.get(), answer) : not_begun(number);
  std::free(request.mem);
  if (!size) return tl::unexpected(size.error());
  const auto bytes = std::span(answer).first(*size);
  extend_init(bytes, served.coherent_direct_io);
  if (::write(kernel.get(), bytes.data(), bytes.size()) < 0) return not_begun(errno);
  return {};
}

}  // namespace tfilefs
