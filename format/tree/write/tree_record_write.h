// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tree/write/branch_record.h"

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

}  // namespace tfile
