// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cache/cluster_cache.h"
#include "view/chain/composed_table.h"

namespace tfilefs {

// The first items among those of all: in each file of a chain, in each block of a friend's runs; and the end of all.
using StartsPtr = std::shared_ptr<const std::vector<std::int64_t>>;

// Reads the columns of a ComposedTable, once its items are counted. Thread-safe.
class ComposedStreams : public CachedStreams, public std::enable_shared_from_this<ComposedStreams> {
 public:
  ComposedStreams(ClusterCache& cache, std::shared_ptr<const ComposedTable> table)
      : cache_(cache), composed_(std::move(table)) {}

  using CachedStreams::read;
  const tfile::StreamSet& streams() const final { return *composed_; }
  void length(tfile::StreamId, std::uint32_t slot, Reply<std::int64_t>) final;
  // That a length is cheap to ask for is not known before it is.
  void cheap_length(tfile::StreamId, std::uint32_t slot, Reply<std::optional<std::int64_t>>) final;
  std::optional<std::int64_t> known_length(tfile::StreamId, std::uint32_t slot) const final;
  void read(tfile::StreamId, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size, ReadUse,
            Reply<Slices>) final;
  void run_view_job(std::function<void()>) final;
  PieceCache& pieces() const final { return cache_.pieces(); }

 protected:
  struct Request {
    tfile::ColumnId column = 0;
    std::uint64_t begin = 0, end = 0;  // bytes of the column
    ReadUse use;
  };
  // How many items there are; -1: not known.
  virtual std::int64_t items_known(CountId) const = 0;
  virtual void want(CountId, Reply<StartsPtr>) = 0;
  // Reads a column whose counts are known.
  virtual void read_known(const Request&, Reply<Slices>) = 0;

  ClusterCache& cache_;

 private:
  void want_all(std::vector<CountId>, Reply<void>);

  const std::shared_ptr<const ComposedTable> composed_;
};

}  // namespace tfilefs
