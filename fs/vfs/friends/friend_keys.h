// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vfs/names/friend_source.h"
#include "vfs/nodes/loaded_table.h"
#include "view/friends/friend_matching.h"

namespace tfilefs {

// The values of a key in a table. Each part is a column of one number for each entry, by its name or ROOT's name
// of its branch; or an expression of such columns, which a whole number is, too. An empty `minor` is 0. Errors:
// not_found, with the name of the column that is missing; unsupported (no expression, a key without a column).
Result<KeySources> key_sources(const LoadedTable&, const FriendKey&);

}  // namespace tfilefs
