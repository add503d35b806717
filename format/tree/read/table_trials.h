// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tfile/mutex.h"
#include "tree/read/branch_nodes.h"
#include "tree/read/stream_slots.h"
#include "tree/read/trial_baskets.h"

namespace tfile {

// Determines, once per branch, how to read the branches of a table that are not resolved. Results that follow
// from damage are kept; after a failure of the storage, a branch is tried again. For any thread. Functions that try
// branches block.
class TableTrials {
 public:
  using UnreadStreams = std::map<StreamId, Error>;

  // `tree`: the table's record; its branches keep their names, but need no baskets. `branches`, `streams` and `columns`
  // belong to the table and outlive this object.
  TableTrials(TreeRecord tree, std::shared_ptr<const StreamerInfos> infos, std::vector<UnresolvedBranch> unresolved,
              std::map<BranchIndex, BranchLayout> tried_at_opening, std::span<const BranchStorage> branches,
              SourceOfBranch source_of, const StreamSlots& streams, std::span<const Column> columns);

  // Tries a branch and, in the same plan, up to `ahead` of the unresolved branches after it, as long as they need no
  // more memory. Errors: those of the storage, if they prevented the trial of the branch itself.
  Result<> try_branch(UnresolvedId, std::size_t ahead) const;
  // Tries all remaining branches. Returns those that could not be tried because the storage failed to deliver their
  // entries, with the error (io). Errors: all others, as above.
  Result<UnreadStreams> try_all() const;

  // The nodes of a branch that was tried.
  BranchNodes nodes_below(UnresolvedId, const Node& directory) const;
  // The nodes of all branches. Those in `unread` show only their bytes, with the reason.
  BranchNodes all_nodes(const UnreadStreams& unread = {}) const;
  // The branch of this stream, if it was tried.
  std::optional<UnresolvedId> resolved_with(StreamId) const;

  std::size_t memory() const;

 private:
  const BranchLayout* layout(UnresolvedId) const;
  void publish(UnresolvedId, BranchLayout) const;
  UnreadStreams try_together(std::vector<UnresolvedId>) const;
  std::vector<UnresolvedId> next_batch(std::vector<UnresolvedId>& left) const;
  std::uint64_t stored_size(UnresolvedId) const;
  std::uint32_t baskets_wanted(UnresolvedId) const;

  const TreeRecord tree_;
  const std::shared_ptr<const StreamerInfos> infos_;
  const std::vector<UnresolvedBranch> unresolved_;
  const std::map<BranchIndex, BranchLayout> tried_at_opening_;
  const std::span<const BranchStorage> branches_;
  const SourceOfBranch source_of_;
  const StreamSlots& streams_;
  const std::span<const Column> columns_;

  mutable Mutex mutex_{"TableTrials::mutex_"};
  mutable std::vector<std::unique_ptr<const BranchLayout>> layouts_ GUARDED_BY(mutex_);  // null: not tried
};

// The reason of a column whose first entries the storage failed to deliver.
std::string cannot_be_read(const Error&);

// Whether the branch of a split collection counts any items in its first entries.
bool counts_items(TrialBaskets&, BranchIndex collection, std::int64_t first_entries);

// Tries one branch of a complete record. If the storage fails, the result follows the description. Blocks.
BranchLayout tried_now(const TreeRecord&, BranchIndex, const StreamerInfos&, bool in_list, const SourceOfBranch&);

// Branches of members of split collections that were filled more or less often than the branch that counts their items,
// so that their items differ from the counts; with the reason. Reads baskets only if numbers of entries differ. An
// unreadable basket is not a contradiction. Blocks. `columns` and `unresolved` are those of the table as opened.
std::map<BranchIndex, std::string> contradicted_branches(std::span<const Column> columns, const StreamSlots&,
                                                         std::span<const UnresolvedBranch> unresolved,
                                                         std::span<const BranchStorage>, const SourceOfBranch&);

// The offsets column of the innermost list around a column, if it belongs to another stream.
std::optional<ColumnId> list_of_others(std::span<const Column>, const Column&);

}  // namespace tfile
