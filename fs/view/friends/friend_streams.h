// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "once.h"
#include "tfile/buffer.h"
#include "view/chain/composed_streams.h"
#include "view/friends/entry_runs.h"
#include "view/friends/friend_table.h"

namespace tfilefs {

// The runs of a friend, and the memory that they are counted in.
struct MatchedRuns {
  EntryRuns runs;
  Budget::Reservation memory;
};
using MatchedRunsPtr = std::shared_ptr<const MatchedRuns>;
inline MatchedEntriesPtr entries_of(MatchedRunsPtr matched) {
  const EntryRuns* const runs = &matched->runs;
  return {std::move(matched), runs};
}

// Reads the columns of a friend (FriendTable of `some` or `any`, and of_matches()) out of the columns of its own
// table. What is read lies in as many places as there are runs of entries. Where the items of lists begin is asked of
// the friend's offsets, for some runs at a time. Thread-safe.
class FriendStreams final : public ComposedStreams {
 public:
  // `own`: the columns of the friend's own table; null for of_matches().
  FriendStreams(ClusterCache&, std::shared_ptr<const FriendTable>, MatchedEntriesPtr,
                std::shared_ptr<CachedStreams> own);

  const Files* files() const override { return own_ ? own_->files() : nullptr; }

 private:
  // Items of the friend that a run brings.
  struct RunItems {
    std::int64_t first = 0, last = 0;  // one behind the last
  };
  using RunsItems = std::vector<RunItems>;
  using Block = std::shared_ptr<const RunsItems>;
  // Items [first, first + count) of the friend are items from `at` on here. Ends of lists differ by `shift`.
  struct Segment {
    std::int64_t first = 0, count = 0, at = 0, shift = 0;
  };
  // Items [begin, end) of a count. `held`: for ends of lists, the count of what the lists hold. `starts`: where the
  // items of each block begin, if they are in lists.
  struct Wanted {
    CountId count = 0;
    std::optional<CountId> held;
    std::int64_t begin = 0, end = 0;
    StartsPtr starts;
  };
  std::shared_ptr<FriendStreams> self() { return std::static_pointer_cast<FriendStreams>(shared_from_this()); }
  std::int64_t items_known(CountId) const override EXCLUDES(mutex_);
  StartsPtr starts_known(CountId) const EXCLUDES(mutex_);
  void want(CountId, Reply<StartsPtr>) override EXCLUDES(mutex_);
  void count_items(CountId, Reply<StartsPtr>);
  void block(CountId, std::size_t number, Reply<Block>) EXCLUDES(mutex_);
  void read_block(CountId, std::size_t number, Reply<Block>);
  static Result<void> step_down(RunsItems&, const tfile::Buffer& ends);
  Block known_block(CountId, std::size_t number) EXCLUDES(mutex_);
  void keep_block(CountId, std::size_t number, Block) EXCLUDES(mutex_);

  void read_known(const Request&, Reply<Slices>) override;
  void find(Wanted, Reply<std::vector<Segment>>);
  void find_in_block(const Wanted&, std::size_t number, std::vector<Segment>& found, Reply<void>);
  void add_found(const Wanted&, std::size_t number, const RunsItems* own, const RunsItems* held,
                 std::vector<Segment>& found) const;
  Slices computed(const Request&) const;
  void read_segments(const Request&, std::vector<Segment>, Reply<Slices>);

  static constexpr std::size_t kBlocksKept = 8;

  const std::shared_ptr<const FriendTable> table_;
  const MatchedEntriesPtr matched_;
  const std::shared_ptr<CachedStreams> own_;

  struct Count {
    Once<StartsPtr> wanted;
    StartsPtr starts;
  };
  struct KeptBlock {
    CountId count = 0;
    std::size_t number = 0;
    Block block;
  };
  mutable Mutex mutex_{"FriendStreams::mutex_"};
  std::map<CountId, Count> counts_ GUARDED_BY(mutex_);
  std::deque<KeptBlock> blocks_ GUARDED_BY(mutex_);  // those used last
};

}  // namespace tfilefs
