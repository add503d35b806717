// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reply.h"
#include "tfile/file.h"

namespace tfilefs {

// The keys of a ROOT file that a copy of it takes over: the newest cycles, at any depth. Paths are the names of keys,
// joined by '/'.
struct KeyPlace {
  std::shared_ptr<const tfile::DirectoryListing> listing;
  std::uint32_t key = 0;
  std::string directory;  // "" for the root

  const tfile::KeyInfo& info() const { return listing->keys[key]; }
  std::string path() const { return (directory.empty() ? "" : directory + "/") + std::string(info().name); }
};

struct FileKeys {
  std::vector<KeyPlace> directories;  // parents first
  std::vector<KeyPlace> objects, tables;
  std::vector<std::string> left_out;  // names that no path can have
};

// Blocks. Errors: those of File::directory.
Result<FileKeys> keys_in(const tfile::File&);
// The table of that path. Reads only the directories on the way. Blocks. Errors: not_found, those of File::directory.
Result<KeyPlace> table_in(const tfile::File&, const std::string& path);

}  // namespace tfilefs
