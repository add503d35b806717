// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tfile/file.h"
#include "tfile/source.h"
#include "tree/record/record_outline.h"
#include "tree/record/tree_record.h"
#include "tree/write/committed_tree.h"

namespace tfile {

// A tree of a file, as far as copying it needs it.
struct SourceTree {
  std::shared_ptr<const Source> source;
  std::map<std::string, std::shared_ptr<const Source>> siblings;  // by fFileName: other files that have baskets
  std::map<std::string, std::string> missing;                     // of those, the ones that are not there, and why
  CommittedTree tree;                                             // its form and branches are not filled in
  std::vector<const BranchPlace*> places;                         // of tree.record.branches
  std::vector<BranchIndex> top_of;                                // of each branch: the top branch above it

  std::shared_ptr<const StreamerInfos> infos;

  const BranchRecord& branch(BranchIndex index) const { return tree.record.branches[index]; }
  const Source* source_of(const BranchRecord& branch) const {
    return branch.file_name.empty() ? source.get() : siblings.at(branch.file_name).get();
  }
};

// Blocks. Errors: damaged, unsupported (the record cannot be edited), io.
Result<SourceTree> read_source_tree(const File&, const KeyInfo&);

// The basket with this number in its branch, if it lies in the tree's record; else null.
const EmbeddedBasket* embedded_basket(const BranchStorage&, std::size_t basket);

// The slot of a branch among the top branches of the outline; nothing: it lies below one of them, or beside them.
std::optional<std::size_t> top_slot(const SourceTree&, BranchIndex);

// "Muon.fPt", as messages name a branch: with the branches above it where its own name does not have theirs.
std::string path_of_branch(const TreeRecord&, BranchIndex);

}  // namespace tfile
