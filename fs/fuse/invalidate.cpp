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

}  // namespace

void forget_pages(Served& served, InodeId id) {
  // The first page last: in it, programs say what the others hold (SQLite's index of its log does).
  constexpr off_t kHead = 4096;
  ask_kernel(served, [&] {
    fuse_lowlevel_notify_inval_inode(served.session, id, kHead, 0);
    fuse_lowlevel_notify_inval_inode(served.session, id, 0, kHead);
  });
}

void forget_name(Served& served, InodeId directory, const std::string& name) {
  ask_kernel(served, [&] { fuse_lowlevel_notify_inval_entry(served.session, directory, name.data(), name.size()); });
}

}  // namespace tfilefs
