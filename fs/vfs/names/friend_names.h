// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reply.h"
#include "vfs/names/friend_source.h"

namespace tfilefs {

// A friend that a user names.
struct NamedFriend {
  std::string alias;
  std::string source;  // as a chain takes it (vfs/names/chain_names.h), perhaps with a table
  std::optional<FriendKey> key;
};

// "ALIAS=SOURCE[@MAJOR[,MINOR]]". An "@" that belongs to the name of a local file, and one in front of a list, is no
// separator. Looks at nothing but whether local names are there. Error: invalid.
Result<NamedFriend> parse_friend(std::string_view);

// The begin of the key in such a text, behind its "@"; npos if there is none.
std::size_t friend_key_begin(std::string_view);

}  // namespace tfilefs
