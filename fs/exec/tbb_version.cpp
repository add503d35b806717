// SPDX-License-Identifier: Apache-2.0
#include "exec/tbb_version.h"

#include <oneapi/tbb/version.h>

namespace tfilefs {

std::string tbb_version() { return TBB_runtime_version(); }

}  // namespace tfilefs
