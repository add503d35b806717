// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tree/write/committed_tree.h"
#include "tree/write/tree_record_write.h"

namespace tfile {

// What becomes of a tree that is in a file.
struct TreeChanges {
  std::string name;                     // of the tree
  TreeNumbers numbers;                  // of the tree as it will be
  const Clusters* clusters = nullptr;   // where entries were appended
  std::vector<BranchToWrite> appended;  // by slot of outline.top; empty where no entries were appended
  std::vector<BranchToWrite> added;     // behind those there
  std::vector<std::size_t> dropped;     // slots of outline.top, ascending
  int compression = 0;                  // fCompress of added branches
};

std::vector<std::byte> edit_tree(const CommittedTree&, std::uint32_t keylen, const TreeChanges&);

// Which of the branches in these slots can go: all but those whose leaves others that stay refer to.
std::vector<std::size_t> branches_free_to_go(const CommittedTree&, std::vector<std::size_t> slots);

}  // namespace tfile
