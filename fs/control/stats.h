// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cluster_cache.h"
#include "tfile/source.h"

namespace tfilefs {

// What the mount itself holds, besides the cache.
struct MountReport {
  std::size_t inodes = 0;    // paths that the kernel knows
  std::size_t handles = 0;   // open files and directories
  std::uint64_t errors = 0;  // problems since the start
  double uptime_seconds = 0;
  struct Memory {
    std::string_view kind;
    std::uint64_t bytes = 0;
  };
  std::vector<Memory> metadata;  // held outside of the budget
  struct Source {
    std::string name;
    tfile::SourceCounts counts;
    tfile::SourceTraits traits;
  };
  std::vector<Source> sources;  // that are far away
};

// .tfilefs/stats.json (docs/semantics.md, "Statistics"). Needs a report with streams.
std::string stats_text(const CacheReport&, const MountReport&);

}  // namespace tfilefs
