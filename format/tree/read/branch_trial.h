// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "streamer/info/streamer_info.h"
#include "tree/read/branch_layout.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Looks at a branch's first entries by its program, where the description of its classes does not decide.
struct FirstEntries {
  // An error when they do not follow it, as with a class whose streamer was written by hand; such a branch is raw.
  std::function<Result<>(const Stream&)> follow;
  // The classes of objects in them that the program knows no alternative for.
  std::function<FoundClasses(const Stream&)> classes;
};

// Whether the first entries decide how a branch of this layout reads.
bool needs_trial(const BranchLayout&);

// How a branch's own data reads: by the description of its classes, and by its first entries where these decide.
BranchLayout tried_layout(const TreeRecord&, BranchIndex, const StreamerInfos&, bool in_list, const FirstEntries&);

}  // namespace tfile
