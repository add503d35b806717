// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "format/source/memory_source.h"
#include "fuzz/stream_body.h"
#include "tfile/file.h"
#include "tfile/name.h"

namespace tfile::fuzz {

inline constexpr int kDepthMax = 4;
inline constexpr int kKeysMax = 100;

// Resolving the branches one by one must give the columns of the whole table.
inline void walk_unresolved(const Table& unresolved, const Table& whole) {
  std::multiset<std::string> paths, all;
  for (const Column& column : whole.columns) all.insert(column.path);
  for (const Column& column : unresolved.columns) paths.insert(column.path);
  for (const NodeId id : unresolved.unresolved) {
    const auto below = unresolved.resolve_branch(id, 0);
    require(below && (*below)->nodes.size() > 2 && (*below)->nodes[1].name == unresolved.nodes[id].name,
            "a branch can be looked into");
    for (const Node& node : (*below)->nodes)
      if (node.column) paths.insert((*below)->columns[*node.column].path);
  }
  require(paths == all, "a table and its branches, one by one, are the whole table");
}

inline void walk_directory(const File& file, const DirectoryListing& directory, int depth, int& keys_left) {
  std::vector<std::string_view> names;
  for (const KeyInfo& key : directory.keys) {
    if (keys_left-- <= 0) return;
    names.push_back(key.name);
    unix_time(key.datime);
    if (const auto payload = file.payload(key)) StreamWalk(**payload, 0, {1}, {false}).run();
    if (key.kind == KeyKind::table) {
      const auto table = file.table(key), unresolved = file.unresolved_table(key);
      if (table) walk_table(**table);
      if (table && unresolved) walk_unresolved(**unresolved, **table);
    }
    if (key.kind == KeyKind::directory && depth > 0) {
      if (const auto below = file.directory(key)) walk_directory(file, **below, depth - 1, keys_left);
    }
  }
  std::set<std::string> paths;
  for (std::string& path : directory_names(names)) {
    require(!path.empty() && path.size() <= kNameMax && path[0] != '.', "a name fits into a directory");
    require(path.find('/') == std::string::npos && path.find('\0') == std::string::npos,
            "a name stays in its directory");
    require(paths.insert(std::move(path)).second, "names are told apart");
  }
}

// Opens the bytes as a file and reads everything in it.
inline void open_body(std::span<const std::byte> bytes) {
  const auto file = File::open(std::make_shared<const test::MemorySource>(std::vector(bytes.begin(), bytes.end())));
  if (!file) return;
  int keys_left = kKeysMax;
  walk_directory(**file, *(*file)->root(), kDepthMax, keys_left);
  const auto map = (*file)->record_map();
  if (!map) return;
  std::uint64_t at = 0;
  for (const Record& record : *map) {
    require(record.begin == at && record.size > 0, "the map has no holes");
    at += record.size;
  }
  require(at == bytes.size(), "the map covers the file");
}

}  // namespace tfile::fuzz
