// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "streamer/info/streamer_info.h"
#include "tree/read/branch_layout.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Access to a branch's first entries by its program, for branches that their description does not determine.
struct FirstEntries {
  // Fails if the entries do not follow the program, as with a class whose streamer is hand-written; the branch is then
  // raw.
  std::function<Result<>(const Stream&)> follow;
  // The classes of objects in the entries for which the program has no alternative.
  std::function<FoundClasses(const Stream&)> classes;
};

// Whether the first entries determine how to read a branch of this layout.
bool needs_trial(const BranchLayout&);

// How to read a branch's own data: by the description of its classes and, where these matter, by its first entries.
BranchLayout tried_layout(const TreeRecord&, BranchIndex, const StreamerInfos&, bool in_list, const FirstEntries&);

}  // namespace tfile
