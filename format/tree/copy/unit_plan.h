// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tfile/kept_entries.h"
#include "tree/copy/source_tree.h"

namespace tfile {

// Plans which baskets of a tree become which baskets of its copy: decided before any of them is read. Pure.

// A basket of the copy.
struct CopiedBasket {
  BranchIndex branch = 0;
  std::uint32_t first = 0, count = 0;  // of the tree's baskets of that branch: those that it is made of
  bool is_whole = false;               // it is that basket; else it is cut of them
  std::uint32_t cluster = 0;
  EntryRange kept;  // entries of the copy, counted from the first of this tree
};

struct UnitPlan {
  std::vector<CopiedBasket> baskets;       // in the order of their places: clusters, entries, branches
  std::vector<std::int64_t> cluster_ends;  // of the copy, counted from its first entry of this tree
};

struct UnitWishes {
  bool keeps_all = false;           // all entries, also those of branches that have more than the tree
  std::uint64_t cluster_bytes = 0;  // compressed; 0: clusters stay, and are joined where few of their entries are kept
};

// `copies`: by branch; the others are left out.
UnitPlan plan_units(const SourceTree&, const KeptEntries&, const std::vector<bool>& copies, const UnitWishes&);

}  // namespace tfile
