// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

#include "vfs/attributes.h"

namespace tfilefs {

// Makes the kernel ask for the attributes of an inode again before it next uses them. May be called while a request for
// the inode is being answered.
void forget_attributes(fuse_session*, InodeId);

}  // namespace tfilefs
