// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// Of oneTBB, as it runs now.
std::string tbb_version();

}  // namespace tfilefs
