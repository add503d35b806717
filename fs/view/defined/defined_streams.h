// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "once.h"
#include "query/query_scan.h"
#include "view/chain/composed_streams.h"
#include "view/defined/defined_table.h"

namespace tfilefs {

// Computes the columns of a DefinedTable when they are read, some thousand entries at a time; these are kept in the
// cache of pieces. Of lists the numbers of items are found by one pass over all entries, on first need. One thread of
// its own computes, as long as there is something to compute. Thread-safe.
class DefinedStreams final : public CachedStreams, public std::enable_shared_from_this<DefinedStreams> {
 public:
  // `own`: the columns of the table of which these are computed.
  DefinedStreams(ClusterCache&, std::shared_ptr<const DefinedTable>, std::shared_ptr<CachedStreams> own);
  ~DefinedStreams() override { pieces().forget(this); }
  DefinedStreams(const DefinedStreams&) = delete;
  DefinedStreams& operator=(const DefinedStreams&) = delete;

  using CachedStreams::read;
  const tfile::StreamSet& streams() const override { return *table_; }
  void length(tfile::StreamId, std::uint32_t slot, Reply<std::int64_t>) override;
  void cheap_length(tfile::StreamId, std::uint32_t slot, Reply<std::optional<std::int64_t>>) override;
  std::optional<std::int64_t> known_length(tfile::StreamId, std::uint32_t slot) const override EXCLUDES(mutex_);
  void read(tfile::StreamId, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size, ReadUse,
            Reply<Slices>) override;
  void run_view_job(std::function<void()> job) override { own_->run_view_job(std::move(job)); }
  PieceCache& pieces() const override { return own_->pieces(); }
  const Files* files() const override { return own_->files(); }

 private:
  struct Request {
    tfile::ColumnId column = 0;
    std::uint64_t begin = 0, end = 0;  // bytes
  };
  tfile::EntryRange block(std::int64_t number) const;
  std::int64_t block_count() const;
  std::int64_t block_of(const Request&, std::int64_t item) const;
  void want_starts(std::size_t definition, Reply<StartsPtr>) EXCLUDES(mutex_);
  StartsPtr starts_known(std::size_t definition) const EXCLUDES(mutex_);
  QuerySource source() const;
  Result<StartsPtr> count_items(std::size_t definition, const std::stop_token&) const;
  void read_known(Request, Reply<Slices>);
  // Null if something has to be computed, and `computes` does not allow it.
  Result<std::optional<Slices>> gather(const Request&, bool computes, const std::stop_token&);
  Result<std::optional<Slices>> gather_ends(const Request&, bool computes, const std::stop_token&);
  Result<PiecePtr> piece(std::size_t definition, std::int64_t block, bool computes, const std::stop_token&);
  Result<PiecePtr> compute(std::size_t definition, std::int64_t block, const std::stop_token&) const;

  ClusterCache& cache_;
  const std::shared_ptr<const DefinedTable> table_;
  const std::shared_ptr<CachedStreams> own_;

  // The begins of the items of each block, and the end of all.
  struct Starts {
    Once<StartsPtr> wanted;
    StartsPtr known;
  };
  mutable Mutex mutex_{"DefinedStreams::mutex_"};
  std::vector<Starts> starts_ GUARDED_BY(mutex_);  // by definition
};

}  // namespace tfilefs
