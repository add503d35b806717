// SPDX-License-Identifier: Apache-2.0
#include "fuse/session_io.h"

#include <fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "fuse/operations.h"

namespace tfilefs {
namespace {

// The first answer of a session is that to INIT.
ssize_t write_answer(int fd, iovec* parts, int count, void* userdata) {
  auto& served = *static_cast<Served*>(userdata);
  if (served.init_is_answered.load(std::memory_order_relaxed)) return ::writev(fd, parts, count);
  if (ask_for_parallel_lookups({parts, static_cast<std::size_t>(count)}))
    served.init_is_answered.store(true, std::memory_order_relaxed);
  return ::writev(fd, parts, count);
}

ssize_t read_request(int fd, void* into, std::size_t size, void*) { return ::read(fd, into, size); }

}  // namespace

bool ask_for_parallel_lookups(std::span<const iovec> answer) {
  fuse_out_header header{};
  fuse_init_out init{};
  constexpr std::size_t kFlagsEnd = offsetof(fuse_init_out, flags) + sizeof init.flags;
  if (answer.size() != 2 || answer[0].iov_len != sizeof header || answer[1].iov_len < kFlagsEnd) return false;
  std::memcpy(&header, answer[0].iov_base, sizeof header);
  if (header.error != 0) return false;
  auto* flags = static_cast<std::byte*>(answer[1].iov_base) + offsetof(fuse_init_out, flags);
  std::memcpy(&init.flags, flags, sizeof init.flags);
  init.flags |= FUSE_PARALLEL_DIROPS;
  std::memcpy(flags, &init.flags, sizeof init.flags);
  return true;
}

int add_session_io(fuse_session* session) {
  fuse_custom_io io{};
  io.read = read_request;
  io.writev = write_answer;
  return -fuse_session_custom_io(session, &io, fuse_session_fd(session));
}

}  // namespace tfilefs
