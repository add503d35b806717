// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reply.h"
#include "vfs/held.h"

namespace tfilefs {

// Finds what names below the root of a source lead to, one after the other. Links are followed as long as they stay
// below the root; others are denied. Errors: also those of FileSystem::lookup. Does not block.
void walk_path(FileSystem&, const std::vector<std::string>& names, Reply<HeldInode>);

}  // namespace tfilefs
