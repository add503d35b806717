// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "vfs/friend_source.h"
#include "vfs/loaded_table.h"
#include "view/friends/friend_matching.h"

namespace tfilefs {

// Where a table has the values of a part of a key: a column of one number for each entry, by its name or ROOT's name of
// its branch; or the whole number that the name is. Nothing if it has no such column.
std::optional<KeySource> key_source(const LoadedTable&, const std::string& name);

// The same for both parts; an empty `minor` is 0. Errors: not_found, with the name of the column that is missing;
// unsupported (a key without a column).
Result<KeySources> key_sources(const LoadedTable&, const FriendKey&);

// Whether a part of a key is the name of a branch, or a whole number, and no expression of several.
bool is_name(const std::string& part);

}  // namespace tfilefs
