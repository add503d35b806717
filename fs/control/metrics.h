// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "control/stats.h"

namespace tfilefs {

// .tfilefs/metrics: the same in the text format of Prometheus, with one series per table and count. Tables beyond
// CountRegistry::kTablesMax are added up. The streams of the report are not used.
std::string metrics_text(const CacheReport&, const MountReport&);

}  // namespace tfilefs
