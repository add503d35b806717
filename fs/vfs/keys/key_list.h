// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfilefs {

// .keys.json: the newest cycles of all keys of a directory of a ROOT file, and below, by their paths in a mount. Only
// the keys of directories are read. Limited in their number and depth; `ancestors`: addresses of the directories above.
// Blocks. Error: who asked has stopped waiting.
Result<std::string> key_list(const tfile::File&, const tfile::DirectoryListing&,
                             const std::vector<std::uint64_t>& ancestors, const std::stop_token&);

}  // namespace tfilefs
