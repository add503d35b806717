// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// .tfilefs/README: the names that a listing does not show.
std::string readme_text();

}  // namespace tfilefs
