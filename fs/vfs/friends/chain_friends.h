// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "vfs/chain/chain.h"
#include "vfs/names/friend_source.h"

namespace tfilefs {

// A chain whose tables have these friends, and those in its files. Of equal aliases, the first is shown. A friend that
// only some files name is left out, and said in the error log.
std::shared_ptr<Chain> make_chain(MountContext&, std::unique_ptr<const ChainPlace>, const ChainOptions&,
                                  std::string path, ChainAbout about = {}, std::vector<FriendSource> friends = {});

}  // namespace tfilefs
