// SPDX-License-Identifier: Apache-2.0
#include "control/stats.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

namespace tfilefs {

std::string stats_text(const ClusterCache::Counters& cache, const MountCounts& mount) {
  nlohmann::ordered_json json;
  json["tfilefs"] = 1;
  json["version"] = TFILEFS_VERSION;
  json["pid"] = ::getpid();
  json["cache"] = {{"hits", cache.hits},
                   {"misses", cache.misses},
                   {"evictions", cache.evictions},
                   {"bytes_read", cache.bytes_read},
                   {"read_calls", cache.read_calls},
                   {"bytes_decoded", cache.bytes_decoded},
                   {"chunks_decoded", cache.chunks_decoded},
                   {"budget_used", cache.budget_used},
                   {"budget", cache.budget}};
  json["mount"] = {{"inodes", mount.inodes}, {"handles", mount.handles}, {"errors", mount.errors}};
  return json.dump(2) + "\n";
}

}  // namespace tfilefs
