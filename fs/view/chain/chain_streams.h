// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "cache/cluster_cache.h"
#include "mutex.h"
#include "view/chain/chain_counts.h"
#include "view/chain/chain_table.h"
#include "view/chain/composed_streams.h"
#include "view/chain/computed_items.h"
#include "view/column_pieces.h"

namespace tfilefs {

// Reads the columns of a chain's table. A read is one of each file in which it has items; those of one file, as they
// are in it, are answered without a copy. Thread-safe.
class ChainStreams final : public ComposedStreams {
 public:
  ChainStreams(ClusterCache&, std::shared_ptr<const ChainTable>, std::shared_ptr<ChainFiles>, Files);
  ~ChainStreams() override;

  const Files* files() const override { return &about_; }

  ChainCounts& counts() const { return *counts_; }

 private:
  struct PartRequest : Request {
    bool in_order = false;  // it goes on where one before it ended
  };
  // The part of a request that lies in one file.
  struct Part {
    std::size_t file = 0;
    std::uint64_t begin = 0, size = 0;  // bytes behind the first that the file brings
    std::uint64_t whole = 0;            // bytes that the file brings
  };
  std::shared_ptr<ChainStreams> self() { return std::static_pointer_cast<ChainStreams>(shared_from_this()); }
  std::int64_t items_known(CountId) const override;
  void want(CountId id, Reply<StartsPtr> reply) override { counts_->want(id, std::move(reply)); }
  void read_known(const Request&, Reply<Slices>) override;
  std::vector<Part> parts_of(const Request&, const StartsPtr&) const;
  void read_part(const PartRequest&, const Part&, Reply<Slices>);
  void read_kept_part(const PartRequest&, const Part&, const ItemSource&, Reply<Slices>);
  void read_file(const PartRequest&, const Part&, const ItemSource&, Reply<Slices>);
  ItemsWanted wanted(const Request&, const Part&) const;
  std::vector<ColumnRange> inputs(const Request&, const Part&, const ItemSource&) const;
  bool note_reader(const Request&) EXCLUDES(mutex_);
  void look_ahead(const PartRequest&, const StartsPtr&) EXCLUDES(mutex_);

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
