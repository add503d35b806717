// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "streamer/layout/class_layout.h"
#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

// How one branch's own data reads, and what it shows as.
struct BranchLayout {
  Stream stream;
  Shape shape;         // raw: not used
  std::string reason;  // why it is raw; empty otherwise
};

// `in_list`: the branch is a member of a split collection, whose items lie back to back; the collection's own branch
// counts them.
// What the first entries tell beyond the description of classes; as LayoutCompiler has it.
struct Classes {
  const FoundClasses* found = nullptr;
  bool bare = false, last_look = false;
};
BranchLayout branch_layout(const TreeRecord&, BranchIndex, const StreamerInfos&, bool in_list, const Classes& = {});

// Whether classes that the first entries tell would change the layout.
bool asks_for_classes(const Stream&);
// Whether it has a TClonesArray whose items' class is not known.
bool has_unknown_items(const Stream&);

// The bytes of each entry as they are.
BranchLayout raw_layout(BranchIndex, std::string reason);

// The branch that counts the items of a split collection (its ends in slot 0, items hidden in slot 1).
BranchLayout collection_counts(BranchIndex);

}  // namespace tfile
