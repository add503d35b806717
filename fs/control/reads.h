// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/read_counts.h"
#include "read_log.h"

namespace tfilefs {

// .tfilefs/reads.json (docs/semantics/running.md, "Reads"). The newest reads come first, each on a line of its own, so
// that who asks again reads the first bytes only. `total`: of the mount.
std::string reads_text(const ReadLog::Report&, const ReadCounts& total);

}  // namespace tfilefs
