// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// The last name in a path: "c" of "a/b/c", and of "c". Pure.
inline std::string name_in_path(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace tfilefs
