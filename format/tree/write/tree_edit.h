// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tree/write/committed_tree.h"
#include "tree/write/tree_record_write.h"

namespace tfile {

// Changes to a tree in a file.
struct TreeChanges {
  std::string name;                     // of the tree
  TreeNumbers numbers;                  // of the changed tree
  const Clusters* clusters = nullptr;   // set if entries were appended
  std::vector<BranchToWrite> appended;  // by slot of outline.top; empty if no entries were appended
  std::vector<BranchToWrite> added;     // after the existing ones
  std::vector<std::size_t> dropped;     // slots of outline.top, ascending
  int compression = 0;                  // fCompress of added branches
};

std::vector<std::byte> edit_tree(const CommittedTree&, std::uint32_t keylen, const TreeChanges&);

// Which of the branches in these slots can be removed: all except those to whose leaves a remaining branch refers.
std::vector<std::size_t> branches_free_to_go(const CommittedTree&, std::vector<std::size_t> slots);

}  // namespace tfile
