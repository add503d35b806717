// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

#include "vfs/attributes.h"
#include "vfs/caller.h"

namespace tfilefs {

// Which users of a mount are trusted like the user who mounted it.
struct Trust {
  bool is_shared = false;  // other users are let in at all
  Ownership ownership;     // the user and group that uid= and gid= gave the mount to
};

// The caller of a request; null for a trusted one: the user who mounted, root, and those to whom the mount was given.
// To be called before the request is answered, since it looks at the calling process.
CallerPtr caller_of(fuse_req_t, const Trust&);

}  // namespace tfilefs
