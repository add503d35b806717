// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tfile/table.h"
#include "view/chain/chain_schema.h"

namespace tfilefs {

// A table whose columns are read out of columns of other tables, by ComposedStreams. Its streams have one column each,
// with its number. It has no chunks to fetch or decode: extents() and decode() fail with `invalid`.
class ComposedTable : public tfile::Table {
 public:
  const ChainColumn& chained(tfile::ColumnId id) const { return chained_[id]; }

  tfile::Result<tfile::Locator> locate(tfile::ChunkKey) const final { return tfile::Locator{}; }
  std::uint64_t decoded_size(tfile::ChunkKey) const final { return 0; }
  std::vector<tfile::ChunkKey> inputs(tfile::ChunkKey) const final { return {}; }
  tfile::Result<tfile::Extents> extents(tfile::StreamId) const final { return not_its_own(); }
  tfile::Result<tfile::Chunk> decode(tfile::ChunkKey, std::span<const std::byte>,
                                     std::span<const std::shared_ptr<const tfile::Chunk>>,
                                     std::span<const std::int64_t>) const final {
    return not_its_own();
  }

 protected:
  std::vector<ChainColumn> chained_;  // by column

 private:
  static tl::unexpected<tfile::Error> not_its_own() {
    return tfile::fail(tfile::ErrorKind::invalid, "its chunks belong to other tables");
  }
};

}  // namespace tfilefs
