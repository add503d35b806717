// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tfile/range.h"

namespace tfilefs {

// When the staged entries of a table become a cluster, and how large its baskets are. Pure.

// What a sample of a branch's entries took: bytes an entry, before compression and as they stand in the file.
struct BranchSample {
  double raw = 0;
  double stored = 0;
};

// As TTree::SetAutoFlush takes it, told apart: the first cluster's compressed bytes, or the entries of every cluster.
struct AutoFlush {
  std::uint64_t bytes = 30'000'000;  // ROOT's default
  std::int64_t entries = 0;          // if not 0: these, and `bytes` means nothing
};

struct ClusterSize {
  std::int64_t entries = 0;  // of a cluster: fAutoFlush
  struct Baskets {
    std::int32_t bytes = 0;    // fBasketSize
    std::int64_t entries = 0;  // of one basket, at most the cluster's
  };
  std::vector<Baskets> branches;
};

// The size of clusters, from the first one. Baskets as TTree::OptimizeBaskets has them: `memory` for one basket of each
// branch (ROOT's default is 10 MB), shared out by what the branches take before compression; multiples of 512 bytes, at
// least that and at most what a cluster holds.
ClusterSize first_cut(std::span<const BranchSample>, const AutoFlush&, std::uint64_t memory = 10'000'000);

// How far a branch has come: entries that are complete, and when it was written to.
struct BranchProgress {
  using Time = std::chrono::steady_clock::time_point;
  std::int64_t entries = 0;
  Time first_write{}, last_write{};
};

// Whether the branches grow together: each was written to after the last of them had its first bytes. While they arrive
// one after the other, a branch may still come for which the entries cut so far would have to be written once more.
bool in_step(std::span<const BranchProgress>);

// The entries to cut now, behind the `cut` first ones: a whole cluster where the table is whole or its branches are in
// step, what is left where it is whole; nothing while neither is so.
std::optional<tfile::EntryRange> next_cut(std::span<const BranchProgress>, std::int64_t cut, std::int64_t cluster_entries,
                                          bool whole);

}  // namespace tfilefs
