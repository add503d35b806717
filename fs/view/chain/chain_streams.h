// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "view/chain/chain_counts.h"
#include "view/chain/chain_table.h"
#include "view/chain/computed_items.h"
#include "view/segments.h"

namespace tfilefs {

// Reads the columns of a chain's table. A read is one of each file in which it has items; those of one file, as they
// are in it, are answered without a copy. Thread-safe.
class ChainStreams final : public CachedStreams, public std::enable_shared_from_this<ChainStreams> {
 public:
  ChainStreams(ClusterCache&, std::shared_ptr<const ChainTable>, std::shared_ptr<ChainFiles>, Files);
  ~ChainStreams() override;

  using CachedStreams::read;
  const tfile::StreamSet& streams() const override { return *table_; }
  void length(tfile::StreamId, std::uint32_t slot, Reply<std::int64_t>) override;
  void cheap_length(tfile::StreamId, std::uint32_t slot, Reply<std::optional<std::int64_t>>) override;
  std::optional<std::int64_t> known_length(tfile::StreamId, std::uint32_t slot) const override;
  void read(tfile::StreamId, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size, ReadUse,
            Reply<Slices>) override;
  void run_view_job(std::function<void()>) override;
  PieceCache& pieces() const override { return cache_.pieces(); }
  const Files* files() const override { return &about_; }

  ChainCounts& counts() const { return *counts_; }

 private:
  using StreamsPtr = std::shared_ptr<CachedStreams>;
  struct Request {
    tfile::ColumnId column = 0;
    std::uint64_t begin = 0, end = 0;  // bytes of the column
    ReadUse use;
    bool in_order = false;  // it goes on where one before it ended
  };
  // The part of a request that lies in one file.
  struct Part {
    std::size_t file = 0;
    std::uint64_t begin = 0, end = 0;  // bytes behind the first that the file brings
    std::uint64_t whole = 0;           // bytes that the file brings
  };
  void with_counts(std::vector<CountId>, Reply<void>);
  void read_known(const Request&, Reply<Slices>);
  std::vector<Part> parts_of(const Request&, const StartsPtr&) const;
  void read_part(const Request&, const Part&, Reply<Slices>);
  void read_kept_part(const Request&, const Part&, const ItemSource&, Reply<Slices>);
  void read_file(const Request&, const Part&, const ItemSource&, Reply<Slices>);
  void read_inputs(const Request&, const Part&, const ItemSource&, const StreamsPtr&, Reply<Slices>);
  ItemsWanted wanted(const Request&, const Part&) const;
  ColumnRange input(const Request&, const Part&, const FileColumn&, std::uint64_t ahead) const;
  bool note_reader(const Request&) EXCLUDES(mutex_);
  void look_ahead(const Request&, const StartsPtr&) EXCLUDES(mutex_);

  ClusterCache& cache_;
  const std::shared_ptr<const ChainTable> table_;
  const std::shared_ptr<ChainFiles> files_;
  const Files about_;
  const std::shared_ptr<ChainCounts> counts_;

  // How a column is read.
  struct Reader {
    std::uint64_t end = ~std::uint64_t{0};  // of the last request
    std::size_t expected = 0;               // files before this one were opened for the reader
  };
  Mutex mutex_{"ChainStreams::mutex_"};
  std::unordered_map<tfile::ColumnId, Reader> readers_ GUARDED_BY(mutex_);
};

}  // namespace tfilefs
