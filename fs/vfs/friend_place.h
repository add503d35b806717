// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/table.h"
#include "vfs/chain.h"

namespace tfilefs {

// Where a friend lies that a tree names: in the tree's own file, or in one that is found beside it, as
// Source::sibling() finds it. Of a path or URL that leads elsewhere, its last name is looked for.
std::unique_ptr<const ChainPlace> make_friend_place(MountContext&, const Generation&, const tfile::FriendName&);

}  // namespace tfilefs
