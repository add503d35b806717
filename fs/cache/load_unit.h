// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "cache/attached_set.h"

namespace tfilefs {

// One chunk of a load, from its stored bytes to the result. The number of a unit is its place in the load.
struct LoadUnit {
  tfile::ChunkKey key;
  bool kept = true;                       // a chunk for the cache; else its items are only counted
  std::vector<std::uint32_t> inputs;      // units whose chunks this one needs
  std::vector<std::uint32_t> dependents;  // units that need the chunk of this one
  Result<tfile::Locator> locator;
  ExtentsPtr extents;
  std::uint64_t decoded_size = 0;

  bool claimed = false;
  std::atomic<bool> urgent = false;             // a reader waits for it
  std::atomic<const LoadUnit*> task = nullptr;  // the first unit of its decode task, once there is one
  std::atomic<std::size_t> missing = 0;         // bytes and inputs that must come before it can be decoded
  std::span<const std::byte> stored;
  std::shared_ptr<const void> stored_owner;
  Budget::Reservation memory;

  ChunkPtr chunk;
  std::optional<Error> error;
  std::vector<std::int64_t> items;
  std::optional<tfile::Chunk> unplaced;  // of a unit whose items are counted

  // Its size in the file; never 0.
  std::uint64_t stored_size() const { return locator ? std::max<std::uint64_t>(1, locator->range.size) : 1; }
};
using LoadUnits = std::deque<LoadUnit>;

// Decodes a unit that lacks nothing, or counts its items if it is not kept: then there is no chunk. `stop`: who waits
// for the items does not any more. Frees its stored bytes. Errors: its own, those of its inputs, damaged, unsupported.
Result<ChunkPtr> decode_unit(const AttachedSet&, LoadUnits&, LoadUnit&, const std::stop_token& stop);

}  // namespace tfilefs
