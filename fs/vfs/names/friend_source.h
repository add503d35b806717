// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tfilefs {

class Chain;

// Entries of a table and of its friend are matched by it: names of columns, or whole numbers. `minor` may be empty.
struct FriendKey {
  std::string major, minor;
};

// A friend as it was named: by a table in its file, by an option, by a dataset.
struct FriendSource {
  std::string alias;  // as a directory entry
  std::shared_ptr<Chain> chain;
  // Nothing: the friend's stored index, if it is one file that has one, or files with first_entries; else position.
  std::optional<FriendKey> key;
  // Chains whose entries lie before those of the table: the friend is that of all of them, one after the other.
  std::vector<std::shared_ptr<Chain>> before = {};
  // Each file of the friend belongs to one of the table's own: by file, the first entry of the table that does. Empty:
  // the friend's files are those of all entries, one after the other.
  std::vector<std::int64_t> first_entries = {};
};

}  // namespace tfilefs
