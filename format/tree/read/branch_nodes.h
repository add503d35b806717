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

// A branch whose directory depends on its first entries and that is not resolved yet.
using UnresolvedId = std::uint32_t;
struct UnresolvedBranch {
  BranchIndex branch = 0;
  StreamId stream = 0;            // which a stand-in replaces
  bool asks_for_classes = false;  // the classes of objects in it are unknown, too
  NodeId node = 0;                // its directory
  std::string path, branch_path;
  bool in_list = false;         // a member of a split collection...
  StreamId collection = 0;      // ...whose items this stream counts...
  BranchIndex lists_of = 0;     // ...of this branch
  std::vector<ColumnId> lists;  // the offsets columns around it
};

// The presentation of a tree's branches: nodes (node 0 is the table), columns, and a stream for each branch with data.
// Every branch has at least one column, except TRef tables: data that are not decoded are raw, with the reason.
struct BranchNodes {
  std::vector<Node> nodes;
  std::vector<Column> columns;
  std::vector<Stream> streams;
  std::vector<UnresolvedBranch> unresolved;              // by UnresolvedId; their nodes ascend
  std::map<BranchIndex, BranchLayout> tried_at_opening;  // without their programs
};

BranchNodes make_branch_nodes(const TreeRecord&, const StreamerInfos&, const FirstEntries&);

// All that is known without a look at any entry: branches that need a trial have empty directories. A branch described
// as numbers (std::bitset) may be a file or a directory, depending on its entries, so `try_now` tries it.
using TryNow = std::function<BranchLayout(BranchIndex, bool in_list)>;
BranchNodes make_unresolved(const TreeRecord&, const StreamerInfos&, const TryNow& try_now);

// All nodes, after all branches were resolved. `found` gives the layout of a branch, or nullptr for one that was
// resolved before. The streams have the same numbers as before, and no programs.
using LayoutFound = std::function<const BranchLayout*(BranchIndex)>;
BranchNodes make_all_nodes(const TreeRecord&, const StreamerInfos&, const LayoutFound& found);

// The nodes of one branch, after it was resolved: node 1, below node 0, is its directory; the columns begin with those
// of the lists around it. `directory` and `columns` are those of the table before.
BranchNodes make_nodes_below(const TreeRecord&, const StreamerInfos&, const UnresolvedBranch&, const BranchLayout&,
                             const Node& directory, std::span<const Column> columns);

}  // namespace tfile
