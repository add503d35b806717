// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tree/read/branch_nodes.h"
#include "tree/read/stream_slots.h"
#include "tree/read/trial_baskets.h"

namespace tfile {

// Finds out how the branches of a table read that were left out of its outline, each once. What damage tells is
// remembered; what a failing storage leaves open is asked again. From any thread; functions that try block.
class TableTrials {
 public:
  using UnreadStreams = std::map<StreamId, Error>;

  // `tree`: the table's record, whose branches need their names but no baskets any more. `branches`, `streams` and
  // `columns` are the table's own and outlive this.
  TableTrials(TreeRecord tree, std::shared_ptr<const StreamerInfos> infos, std::vector<UntriedBranch> untried,
              std::map<BranchIndex, BranchLayout> tried_at_opening, std::span<const BranchStorage> branches,
              SourceOfBranch source_of, const StreamSlots& streams, std::span<const Column> columns);

  // Tries a branch, and in the same plan up to `ahead` of those behind it that nobody has tried, as far as that takes
  // no more memory. Errors: of the storage, if the branch itself could not be tried for it.
  Result<> try_branch(UntriedId, std::size_t ahead) const;
  // Tries all that are left. Gives those whose entries the storage does not give now, with its error (io). Errors: as
  // above, but for these.
  Result<UnreadStreams> try_all() const;

  // Of what was tried.
  BranchNodes nodes_below(UntriedId, const Node& directory) const;
  // The directories of those that are unread have their bytes alone, with the reason.
  BranchNodes all_nodes(const UnreadStreams& unread = {}) const;
  // The branch whose stream it is, if that was tried.
  std::optional<UntriedId> tried_with(StreamId) const;

  std::size_t memory() const;

 private:
  const BranchLayout* layout(UntriedId) const;
  void publish(UntriedId, BranchLayout) const;
  UnreadStreams try_together(std::vector<UntriedId>) const;
  std::vector<UntriedId> next_batch(std::vector<UntriedId>& left) const;
  std::uint64_t stored_size(UntriedId) const;
  std::uint32_t baskets_wanted(UntriedId) const;

  const TreeRecord tree_;
  const std::shared_ptr<const StreamerInfos> infos_;
  const std::vector<UntriedBranch> untried_;
  const std::map<BranchIndex, BranchLayout> tried_at_opening_;
  const std::span<const BranchStorage> branches_;
  const SourceOfBranch source_of_;
  const StreamSlots& streams_;
  const std::span<const Column> columns_;

  mutable std::mutex mutex_;                                          // guards the next one
  mutable std::vector<std::unique_ptr<const BranchLayout>> layouts_;  // null: not tried
};

// The reason of a column whose first entries the storage does not give.
std::string cannot_be_read(const Error&);

// Whether a split collection's own branch counts any item in its first entries.
bool counts_items(TrialBaskets&, BranchIndex collection, std::int64_t first_entries);

// Tries one branch of a record that is complete. What a failing storage leaves open is as the description says. Blocks.
BranchLayout tried_now(const TreeRecord&, BranchIndex, const StreamerInfos&, bool in_list, const SourceOfBranch&);

}  // namespace tfile
