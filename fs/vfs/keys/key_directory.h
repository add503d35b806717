// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tfile/file.h"
#include "vfs/nodes/directory.h"

namespace tfilefs {

// A directory of a ROOT file: its keys, the newest cycle of each name under the bare name, any cycle as `name;N`. The
// root (no ancestors) also has .header.json, .map.txt and .original. `ancestors`: addresses of the directories above,
// for files whose directories contain each other. `of_fixed_table`: the keys belong to a table that is not written.
// Takes time in proportion to the number of keys.
std::shared_ptr<const Directory> make_key_directory(std::shared_ptr<const Generation>,
                                                    std::shared_ptr<const tfile::DirectoryListing>, std::string path,
                                                    std::vector<std::uint64_t> ancestors, bool of_fixed_table = false);
// The file's root directory.
std::shared_ptr<const Directory> make_root_directory(const std::shared_ptr<const Generation>&);

// .classes in a ROOT file's directory: a header for each class that the file describes, made on first access.
void enter_classes(std::shared_ptr<const Generation>, Reply<std::shared_ptr<const Directory>>);

}  // namespace tfilefs
