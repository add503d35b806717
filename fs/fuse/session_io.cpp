// SPDX-License-Identifier: Apache-2.0
#include "fuse/session_io.h"

#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "fuse/operations.h"

namespace tfilefs {
namespace {

// FUSE_DIRECT_IO_ALLOW_MMAP of Linux 6.6 (include/uapi/linux/fuse.h), bit 36, which older headers do not have.
constexpr std::uint32_t kDirectIoAllowMmap = 1u << (36 - 32);

// The first answer of a session is that to INIT.
ssize_t write_answer(int fd, iovec* parts, int count, void* userdata) {
  auto& served = *static_cast<Served*>(userdata);
  if (served.init_is_answered.load(std::memory_order_relaxed)) return ::writev(fd, parts, count);
  if (extend_init({parts, static_cast<std::size_t>(count)}, served.coherent_direct_io))
    served.init_is_answered.store(true, std::memory_order_relaxed);
  return ::writev(fd, parts, count);
}

ssize_t read_request(int fd, void* into, std::size_t size, void*) { return ::read(fd, into, size); }

}  // namespace

bool extend_init(std::span<const iovec> answer, bool maps) {
  fuse_out_header header{};
  fuse_init_out init{};
  constexpr std::size_t kFlagsEnd = offsetof(fuse_init_out, flags2) + sizeof init.flags2;
  if (answer.size() != 2 || answer[0].iov_len != sizeof header || answer[1].iov_len < kFlagsEnd) return false;
  std::memcpy(&header, answer[0].iov_base, sizeof header);
  if (header.error != 0) return false;
  std::memcpy(&init, answer[1].iov_base, kFlagsEnd);
  init.flags |= FUSE_PARALLEL_DIROPS;
  if (maps) {
    init.flags |= FUSE_INIT_EXT;
    init.flags2 |= kDirectIoAllowMmap;
  }
  std::memcpy(answer[1].iov_base, &init, kFlagsEnd);
  return true;
}

int add_session_io(fuse_session* session) {
  fuse_custom_io io{};
  io.read = read_request;
  io.writev = write_answer;
  return -fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

}  // namespace tfilefs
