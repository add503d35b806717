// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/node.h"
#include "tree/read/branch_trial.h"
#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

// A branch whose first entries decide what is in its directory, as long as nobody has looked at them.
using UntriedId = std::uint32_t;
struct UntriedBranch {
  BranchIndex branch = 0;
  StreamId stream = 0;            // whose place is held
  bool asks_for_classes = false;  // they tell more than whether they follow the description
  NodeId node = 0;                // its directory
  std::string path, branch_path;
  bool in_list = false;         // a member of a split collection...
  StreamId collection = 0;      // ...whose items this stream counts...
  BranchIndex lists_of = 0;     // ...of this branch
  std::vector<ColumnId> lists;  // the offsets columns around it
};

// What a tree's branches show as: nodes (node 0 is the table), columns, and a stream for each branch with data. Every
// branch but TRef tables has a column at least: what is not decoded is raw, with the reason.
struct BranchNodes {
  std::vector<Node> nodes;
  std::vector<Column> columns;
  std::vector<Stream> streams;
  std::vector<UntriedBranch> untried;                    // by UntriedId; their nodes ascend
  std::map<BranchIndex, BranchLayout> tried_at_opening;  // without their programs
};

BranchNodes make_branch_nodes(const TreeRecord&, const StreamerInfos&, const FirstEntries&);

// What can be said without a look at any entry: the directories of branches that need a trial are empty. But a branch
// that is numbers by its description (std::bitset) is a file or a directory, as its entries tell: `try_now` tries it.
using TryNow = std::function<BranchLayout(BranchIndex, bool in_list)>;
BranchNodes make_outline(const TreeRecord&, const StreamerInfos&, const TryNow& try_now);

// Everything, once all of them were tried: `found` gives a branch's layout, or null for one that was in the outline.
// The streams, which have the numbers that they have there, are without their programs.
using LayoutFound = std::function<const BranchLayout*(BranchIndex)>;
BranchNodes make_all_nodes(const TreeRecord&, const StreamerInfos&, const LayoutFound& found);

// One of them, once it was tried: node 1, below node 0, is its directory; the columns begin with those of the lists
// around it. `directory` and `columns`: of the outline.
BranchNodes make_nodes_below(const TreeRecord&, const StreamerInfos&, const UntriedBranch&, const BranchLayout&,
                             const Node& directory, std::span<const Column> columns);

}  // namespace tfile
