// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "control/stats.h"

namespace tfilefs {

// .tfilefs/metrics: the same in the text format of Prometheus, with one series a table and count; tables beyond
// CountRegistry::kTablesMax are added up. Streams of the report are not looked at.
std::string metrics_text(const CacheReport&, const MountReport&);

}  // namespace tfilefs
