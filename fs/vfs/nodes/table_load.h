// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "tfile/file.h"
#include "vfs/nodes/generation.h"
#include "vfs/nodes/loaded_table.h"

namespace tfilefs {

// The table of a key, loaded once for all that ask. `path`: in the mount, for messages and counts. Errors: those of
// File::unresolved_table, is_refusal().
void load_table(std::shared_ptr<const Generation>, std::shared_ptr<const tfile::DirectoryListing>, std::uint32_t key,
                std::string path, Reply<std::shared_ptr<const LoadedTable>>);

}  // namespace tfilefs
