// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// What --version prints: "tfilefs 0.1.0". `verbose`: lines with the commit, the libraries that run, and what the
// processor is used for.
std::string version_text(bool verbose);

}  // namespace tfilefs
