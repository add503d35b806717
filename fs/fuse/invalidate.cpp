// SPDX-License-Identifier: Apache-2.0
#include "fuse/operation.h"

namespace tfilefs {

void forget_attributes(fuse_session* session, InodeId id) {
  // A negative offset leaves the pages alone, and with them the locks on which a request may be waiting. An error means
  // that the kernel does not know the inode (any more), so there is nothing to forget.
  fuse_lowlevel_notify_inval_inode(session, id, -1, 0);
}

}  // namespace tfilefs
