// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfile/table.h"
#include "vfs/chain/chain.h"

namespace tfilefs {

// A friend as a tree of a file names it.
struct FriendPlace {
  std::shared_ptr<MountedFile> of;  // the tree's file
  std::string file;                 // its path or URL
  Provenance from;                  // of that file
  tfile::FriendName named;
};

// The places of friends that trees name, in this order: the tree's own file, or one that is found beside it, as
// Source::sibling() finds it. Of a path or URL that leads elsewhere, its last name is looked for.
std::unique_ptr<const ChainPlace> make_friends_place(MountContext&, std::vector<FriendPlace>);

}  // namespace tfilefs
