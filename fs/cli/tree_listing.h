// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "reply.h"
#include "vfs/file_system.h"

namespace tfilefs {

// A line of the tree that `ls` shows.
struct TreeRow {
  std::size_t depth = 0;
  std::string name = {};  // with "/" behind it if more is below
  bool is_directory = false;
  std::string what = {};     // the class of a key, the type of a column; empty: a file or directory of the host
  std::string entries = {};  // of a table
  std::string size = {};     // in the file
  std::string title = {};    // or why it, or its values, cannot be read
};

// Something in a directory, and what the FileSystem says of it by extended attributes.
struct ListedThing {
  std::string name;
  FileSystem::Found found;
  Xattrs xattrs;

  const std::string& xattr(std::string_view name_behind_prefix) const;  // "title"; empty: it has none
  bool is_directory() const;
  // A TDirectory, whose content belongs to the tree of a file.
  bool is_key_directory() const;
};

// The thing at the end of a path, without attributes if these cannot be read. Blocks.
ListedThing thing_at(FileSystem&, std::string name, const FileSystem::Found&);

// Everything that a listing of the directory shows, sorted by name; with attributes, for which tables are opened, if
// these are wanted. Each counts as looked up. Of a name that cannot be looked at, and of attributes that cannot be
// read, `failed` is told. Blocks.
Result<std::vector<ListedThing>> things_in(FileSystem&, InodeId directory, bool with_xattrs,
                                           const std::function<void(const std::string& name, const Error&)>& failed);

TreeRow row_of(const ListedThing&, std::size_t depth);

// Rows as lines of columns, which are as wide as their longest text; with colours, the names of directories have one.
// Pure.
std::string tree_text(const std::vector<TreeRow>&, bool has_colours = false);

}  // namespace tfilefs
