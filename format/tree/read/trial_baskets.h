// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tfile/read_together.h"
#include "tree/read/stream.h"
#include "tree/record/tree_record.h"

namespace tfile {

using StorageOf = std::function<const BranchStorage&(BranchIndex)>;
using SourceOfBranch = std::function<Result<const Source*>(const BranchStorage&)>;

// The first baskets of branches, for trials. If a trial misses a basket, this is noted. Missing baskets of several
// trials are read together, and the trials begin again.
class TrialBaskets {
 public:
  TrialBaskets(StorageOf storage_of, SourceOfBranch source_of)
      : storage_of_(std::move(storage_of)), source_of_(std::move(source_of)) {}

  const BranchStorage& branch(BranchIndex index) const { return storage_of_(index); }

  // Notes that the basket, or its first `bytes_max` bytes, will be needed.
  void want(BranchIndex, std::uint32_t index, std::uint64_t bytes_max = kTrialBytesMax);
  std::uint64_t wanted_bytes() const { return wanted_bytes_; }
  // Reads everything that was noted. Blocks.
  void read_wanted();

  // Begins a trial: forgets the results of the previous one.
  void begin();
  bool missed() const { return missed_; }
  // The failure of the storage, if any; nothing is known of the branch then.
  const std::optional<Error>& failure() const { return failure_; }

  // The data of a basket, or its stored bytes. Errors: damaged, unsupported; those of the storage; invalid (not read
  // yet).
  Result<BasketData> data(BranchIndex, std::uint32_t index);
  Result<std::span<const std::byte>> stored(BranchIndex, std::uint32_t index);

  // A larger basket than ROOT ever writes is not tried; it is only read when requested.
  static constexpr std::uint64_t kTrialBytesMax = 64 << 20;
  // About this many stored bytes are wanted together, except for a single larger basket.
  static constexpr std::uint64_t kPlanBytes = 16 << 20;

 private:
  using Place = std::pair<BranchIndex, std::uint32_t>;

  const StorageOf storage_of_;
  const SourceOfBranch source_of_;
  std::map<Place, Result<std::span<const std::byte>>> read_;
  std::map<Place, std::uint64_t> wanted_;  // bytes of it
  std::uint64_t wanted_bytes_ = 0;
  std::vector<Buffer> memory_;
  bool missed_ = false;
  std::optional<Error> failure_;
};

}  // namespace tfile
