// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fuse_lowlevel.h>

#include "vfs/attributes.h"
#include "vfs/caller.h"

namespace tfilefs {

// Who of a mount's users is trusted as the one who mounted it.
struct Trust {
  bool is_shared = false;  // others are let in at all
  Ownership ownership;     // to whom the mount was given by uid= and gid=
};

// Who asks; null for whoever is trusted: the user who mounted, root, and those to whom the mount was given. While the
// request is not answered: its process is looked at.
CallerPtr caller_of(fuse_req_t, const Trust&);

}  // namespace tfilefs
