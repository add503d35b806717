// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reply.h"
#include "vfs/names/chain_names.h"

namespace tfilefs {

// The error of reading these files. Where it is damage, and another program is writing one of them, it may be a save
// that is under way: the error is stale then, and says so. Blocks for up to half a second for each that was written
// just now.
Error damage_or_save(Error, const std::vector<ChainName>&);

}  // namespace tfilefs
