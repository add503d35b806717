// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// The text of --version: "tfilefs 0.1.0". `verbose`: lines with the commit, the libraries that run, and what the
// processor is used for.
std::string version_text(bool verbose);

}  // namespace tfilefs
