// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vfs/file_system.h"

namespace tfilefs {

// The name that a word was meant to be: the same in other case or without its type (`x` of `x.f4`), or with some
// letters wrong. Empty: none is near. Pure.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

// For the message about a path that is not in a file system: "; did you mean Events?", with the listed name that is
// most like the first of its names that is not there, or nothing. Blocks.
std::string like_name_of(FileSystem&, std::string_view path);

}  // namespace tfilefs
