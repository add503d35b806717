// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "streamer/layout/class_layout.h"
#include "streamer/layout/packing.h"
#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

// How to read one branch's own data, and how to present it.
struct BranchLayout {
  Stream stream;
  Shape shape;         // not used if the layout is raw
  std::string reason;  // why it is raw; else empty
};

// How the numbers of a leaf of Double32_t or Float16_t are stored; nothing: it is none.
std::optional<Packing> leaf_packing(const LeafRecord&);

// Knowledge from the first entries, beyond the description of classes; members as in LayoutCompiler.
struct Classes {
  const FoundClasses* found = nullptr;
  LayoutGuess guess = {};
};
// `in_list`: the branch is a member of a split collection, whose items follow each other without gaps; the branch of
// the collection counts them.
BranchLayout branch_layout(const TreeRecord&, BranchIndex, const StreamerInfos&, bool in_list, const Classes& = {});

// Whether the layout depends on classes that only the first entries can give.
bool asks_for_classes(const Stream&);
// Whether it has a TClonesArray with items of unknown class.
bool has_unknown_items(const Stream&);

// A layout that gives the bytes of each entry unchanged.
BranchLayout raw_layout(BranchIndex, std::string reason);

// The branch that counts the items of a split collection (its ends in slot 0, its items hidden in slot 1).
BranchLayout collection_counts(BranchIndex);

}  // namespace tfile
