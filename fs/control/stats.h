// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cache/cluster_cache.h"

namespace tfilefs {

// What the mount itself holds, beside the cache.
struct MountCounts {
  std::size_t inodes = 0;    // paths that the kernel knows
  std::size_t handles = 0;   // open files and directories
  std::uint64_t errors = 0;  // problems since the start
};

// .tfilefs/stats.json. All counts are since the start; sizes in bytes.
std::string stats_text(const ClusterCache::Counters&, const MountCounts&);

}  // namespace tfilefs
