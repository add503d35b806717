// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytes/cursor.h"
#include "tfile/table.h"

namespace tfile {

// The parts of a tree's record beside its branches: its friends, aliases, and its index (docs/format.md, "Friends and
// indices of trees"). Bounds are checked by the cursor, which fails where the bytes end or contradict themselves.

// The TList of TFriendElement that fFriends points to, from its frame on. `keylen`: as in read_tree(). Slots that hold
// something else are left out, and so are friends beyond a thousand.
std::vector<FriendName> read_friends(Cursor& in, std::uint32_t keylen);
// The same of the TList of TNamed that fAliases points to.
std::vector<TableAlias> read_aliases(Cursor& in, std::uint32_t keylen);

// A TTreeIndex, from its frame on. The numbers are as stored: 8 bytes each, big-endian, views into the cursor's bytes.
struct StoredIndex {
  std::string major_name, minor_name;
  // `minor` is empty in version 1, whose `major` holds both values.
  std::span<const std::byte> major, minor, entry;
};
StoredIndex read_stored_index(Cursor& in);

// The numbers of a stored index.
EntryIndex entry_index_of(const StoredIndex&);

}  // namespace tfile
