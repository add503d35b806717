// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tfile/json_writer.h"
#include "tfile/table.h"

namespace tfilefs {

// The friends that a table names, as .schema.json of a table and of a chain has them; nothing if there are none.
void write_friends(tfile::JsonWriter&, const std::vector<tfile::FriendName>&);

}  // namespace tfilefs
