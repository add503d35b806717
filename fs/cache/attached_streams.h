// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "cache/attached_set.h"
#include "cache/cluster_cache.h"

namespace tfilefs {

// The decoded chunks of one StreamSet and their extents. Its chunks leave the cache when the last owner goes.
class AttachedStreams final : public CachedStreams {
 public:
  explicit AttachedStreams(std::shared_ptr<AttachedSet> set) : set_(std::move(set)) {}
  using CachedStreams::read;
  const tfile::StreamSet& streams() const override;
  void note_open(tfile::StreamId) override;
  void note_close(tfile::StreamId) override;
  void length(tfile::StreamId, std::uint32_t slot, Reply<std::int64_t>) override;
  void cheap_length(tfile::StreamId, std::uint32_t slot, Reply<std::optional<std::int64_t>>) override;
  std::optional<std::int64_t> known_length(tfile::StreamId, std::uint32_t slot) const override;
  void read(tfile::StreamId, std::uint32_t slot, std::size_t item_size, std::uint64_t offset, std::size_t size, ReadUse,
            Reply<Slices>) override;
  void run_view_job(std::function<void()>) override;
  PieceCache& pieces() const override;

 private:
  const std::shared_ptr<AttachedSet> set_;
};

}  // namespace tfilefs
