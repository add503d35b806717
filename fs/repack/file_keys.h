// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "repack/open_inputs.h"
#include "reply.h"
#include "tfile/file.h"

namespace tfilefs {

// The keys of a ROOT file that a copy of it takes over: the newest cycles, at any depth. Paths are the names of keys,
// joined by '/'; a last one that has a slash, or is empty, is escaped as in a mount.
struct KeyPlace {
  std::shared_ptr<const tfile::DirectoryListing> listing;
  std::uint32_t key = 0;
  std::string directory;  // "" for the root

  const tfile::KeyInfo& info() const { return listing->keys[key]; }
  std::string path() const;
};

std::string path_of_key(const std::string& directory, std::string_view name);

struct FileKeys {
  std::vector<KeyPlace> directories;  // parents first
  std::vector<KeyPlace> objects, tables;
  std::vector<std::string> left_out;  // directories whose names no path can have
};

// Blocks. Errors: those of File::directory.
Result<FileKeys> keys_in(const tfile::File&);

// The keys that a file takes over of many. Keys with the same path count once: those of the first file that has it.
struct InputKeys {
  struct Object {
    KeyPlace place;
    std::size_t file = 0;  // number
  };
  std::shared_ptr<const tfile::File> first;
  std::vector<KeyPlace> directories;  // parents first
  std::vector<KeyPlace> tables;       // of the first file
  std::vector<Object> objects;        // in the order of files
  std::vector<std::string> left_out;  // what is not taken over, and why
};
// `takes_table`: by name. Blocks. Errors: those of opening, and of File::directory, with the file's name.
Result<InputKeys> keys_of_inputs(OpenInputs&, const std::function<bool(const std::string&)>& takes_table);
// The newest key of that name and kind in a directory. Reads only the directories on the way. Blocks. Errors:
// not_found, those of File::directory.
Result<KeyPlace> key_in(const tfile::File&, std::string_view directory, std::string_view name, tfile::KeyKind);
// The same by its path: as KeyPlace::path(), or plain names joined by '/'.
Result<KeyPlace> key_in(const tfile::File&, const std::string& path, tfile::KeyKind);

}  // namespace tfilefs
