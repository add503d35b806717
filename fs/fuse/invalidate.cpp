// SPDX-License-Identifier: Apache-2.0
#include "fuse/end_signals.h"
#include "fuse/operation.h"

namespace tfilefs {

void forget_attributes(fuse_session* session, InodeId id) {
  // A negative offset leaves the pages alone, and with them the locks on which a request may be waiting. An error means
  // that the kernel does not know the inode (any more), so there is nothing to forget.
  fuse_lowlevel_notify_inval_inode(session, id, -1, 0);
}

namespace {

// Asks the kernel for what it can only do once requests are answered: the session ends after that.
template <class Ask>
void ask_kernel(Served& served, Ask ask) {
  ++served.kernel_work;
  if (served.end_signal == 0) ask();
  if (--served.kernel_work == 0 && served.end_signal != 0) end_by_signal_again();
}

void forget_pages(Served& served, InodeId id) {
  // The first page last: in it, programs say what the others hold (SQLite's index of its log does).
  constexpr off_t kHead = 4096;
  ask_kernel(served, [&] {
    fuse_lowlevel_notify_inval_inode(served.session, id, kHead, 0);
    fuse_lowlevel_notify_inval_inode(served.session, id, 0, kHead);
  });
}

// After an invalidation the kernel ignores the size in the answer to a request that came before. With a stored byte it
// takes the size at once. That byte may be overwritten at the same time, so its page goes again.
void grow_pages(Served& served, InodeId id, std::uint64_t old_size, std::uint64_t size, std::byte last) {
  fuse_bufvec bytes{};
  bytes.count = 1;
  bytes.buf[0].size = 1;
  bytes.buf[0].mem = &last;
  ask_kernel(served, [&] {
    fuse_lowlevel_notify_inval_inode(served.session, id, static_cast<off_t>(old_size), 0);
    fuse_lowlevel_notify_store(served.session, id, static_cast<off_t>(size - 1), &bytes, fuse_buf_copy_flags{});
    fuse_lowlevel_notify_inval_inode(served.session, id, static_cast<off_t>(size - 1), 0);
  });
}

void forget_name(Served& served, InodeId directory, const std::string& name) {
  ask_kernel(served, [&] { fuse_lowlevel_notify_inval_entry(served.session, directory, name.data(), name.size()); });
}

}  // namespace

KernelNotices kernel_notices(Served& served) {
  KernelNotices kernel;
  if (served.file_system->has_locks()) kernel.forget_pages = [&served](InodeId id) { forget_pages(served, id); };
  kernel.grow_pages = [&served](InodeId id, std::uint64_t old_size, std::uint64_t size, std::byte last) {
    grow_pages(served, id, old_size, size, last);
  };
  kernel.forget_name = [&served](InodeId directory, const std::string& name) { forget_name(served, directory, name); };
  return kernel;
}

}  // namespace tfilefs
