// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vfs/chain/chain.h"
#include "vfs/names/friend_source.h"

namespace tfilefs {

// The friends that the trees of a chain's table name, each of them in all files: the friend of the chain is made of
// those of its files, each beside the entries of its own. Looks at no file. One that only some files name is left out,
// and said in the error log. `path`: of the table in the mount.
std::vector<FriendSource> friends_in_files(MountContext&, const ChainState&, const PlannedTable&,
                                           const std::string& path, ChainPolicy policy);

// What a chain is told of the friends of its tables: those that are named, and those in its files. Of equal aliases,
// the first is shown.
FriendsOfTable friends_of_chain(MountContext&, ChainPolicy, std::vector<FriendSource> named = {});

// A chain whose tables have these friends, and those in its files.
std::shared_ptr<Chain> make_chain(MountContext&, std::unique_ptr<const ChainPlace>, const ChainOptions&,
                                  std::string path, ChainAbout about = {}, std::vector<FriendSource> friends = {});

}  // namespace tfilefs
