// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tree/write/branch_record.h"
#include "tree/write/committed_tree.h"

namespace tfile {

// The ends of clusters in the form of TTree: ranges of clusters of equal size, of which the last is open
// (docs/format.md, "Trees and branches").
struct Clusters {
  std::vector<std::int64_t> range_end;    // fClusterRangeEnd: the last entry of a range
  std::vector<std::int64_t> range_size;   // fClusterSize
  std::int64_t auto_flush = -30'000'000;  // fAutoFlush: ROOT's default (bytes) before the first cluster ends

  // Ends a cluster of entries [begin, end). `size`: entries per cluster from here on; 0: as before.
  void end_cluster(std::int64_t begin, std::int64_t end, std::int64_t size);
};

struct TreeNumbers {
  std::int64_t entries = 0, tot_bytes = 0, zip_bytes = 0;
};

struct BranchToWrite {
  const WrittenBranch* branch;
  const BranchBaskets* baskets;
};

// Writes the branches in their slots, counters before the branches that they count. Adds the places of their leaves to
// `leaves`.
void write_branches(ObjectAppender&, std::span<const BranchToWrite>, int compression, LeafPlaces& leaves);

// The payload of a tree of these branches, for a key of `keylen` bytes.
std::vector<std::byte> write_tree(std::uint32_t keylen, const std::string& name, const std::string& title,
                                  const TreeNumbers&, const Clusters&, std::span<const BranchToWrite>, int compression);

// Members, and what they become.
using MemberNumbers = std::vector<std::pair<MemberPlace, std::int64_t>>;

// A branch, at any depth, whose baskets are others than in the record.
struct ChangedBranch {
  const BranchPlace* place = nullptr;
  const BranchBaskets* baskets = nullptr;  // null: it has none
  MemberNumbers numbers;                   // further ones
};

// Changes to a tree in a file.
struct TreeChanges {
  std::string name;                     // of the tree
  TreeNumbers numbers;                  // of the changed tree
  const Clusters* clusters = nullptr;   // set if entries were appended
  std::vector<BranchToWrite> appended;  // by slot of outline.top; empty if no entries were appended
  std::vector<ChangedBranch> changed;   // instead: each by itself
  MemberNumbers numbers_of_leaves;      // each leaf may be referred to by several branches
  bool renumbers = false;               // entries have other numbers: index and friends do not fit any more
  std::vector<BranchToWrite> added;     // after the existing ones
  std::vector<std::size_t> dropped;     // slots of outline.top, ascending
  int compression = 0;                  // fCompress of added branches
};

std::vector<std::byte> edit_tree(const CommittedTree&, std::uint32_t keylen, const TreeChanges&);

// The branches in these slots that can be removed: all except those to whose leaves a remaining branch refers.
std::vector<std::size_t> branches_free_to_go(const CommittedTree&, std::vector<std::size_t> slots);

}  // namespace tfile
