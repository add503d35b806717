// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

namespace tfilefs {

// Adds the operations that write to a mount; without them each answers ENOSYS.
void add_change_operations(fuse_lowlevel_ops&);

}  // namespace tfilefs
