// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "streamer/streamer_info.h"
#include "tfile/node.h"
#include "tree/stream.h"
#include "tree/tree_record.h"

namespace tfile {

// What a tree's branches show as: nodes (node 0 is the table), columns, and a stream for each branch with data. Every
// branch but TRef tables has a column at least: what is not decoded is raw, with the reason.
struct BranchNodes {
  std::vector<Node> nodes;
  std::vector<Column> columns;
  std::vector<Stream> streams;
};

// Looks at a branch's first entries by its program, where the description of its classes does not decide.
struct FirstEntries {
  // An error when they do not follow it, as with a class whose streamer was written by hand; such a branch is raw.
  std::function<Result<>(const Stream&)> follow;
  // The classes of objects in them that the program knows no alternative for.
  std::function<FoundClasses(const Stream&)> classes;
};

BranchNodes make_branch_nodes(const TreeRecord&, const StreamerInfos&, const FirstEntries&);

}  // namespace tfile
