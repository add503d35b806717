// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "staging/overlay/staged_node.h"

namespace tfilefs {

// A file of this name marks the directory that contains it as a table.
inline constexpr std::string_view kTableMarker = ".table", kRntupleMarker = ".rntuple";
inline bool is_marker(std::string_view name) { return name == kTableMarker || name == kRntupleMarker; }

// The form of a directory that is a table: as it is in the file, or as RNTuple if a marker says so, or as the
// mount was told.
tfile::TableFormat format_of(const StagedNode& directory);

// The staged state of a name in a directory.
struct StagedLook {
  enum class What : std::uint8_t {
    nothing,    // not staged: the committed state shows
    whiteout,   // hidden, whatever is committed
    file,       // a staged file
    directory,  // a staged directory, or a committed one in which something may be staged
  } what = What::nothing;
  NodePtr node;
};

StagedLook look(const StagedNode& directory, std::string_view name);

// Names from the file's root, separated by '/'; "" for the root.
std::string staged_path(const StagedNode&);

// The names of a directory in the committed state, from the root; nothing if it is not committed.
std::optional<std::vector<std::string>> committed_path(const StagedNode&);

// Whether it is a table in the committed state, or inside one.
bool is_in_table(const StagedNode&);

NodePtr node_at(const NodePtr& root, std::string_view path);  // null: not there

// Whether a path below a file's root is short enough: PATH_MAX in total, NAME_MAX per name. This limits the depth of
// directories, and so of every walk through the tree.
bool is_short_path(std::string_view path);
// The same for a name in a directory, and for all paths below `moved` once it has that name.
bool fits(const StagedNode& directory, std::string_view name, const StagedNode* moved = nullptr);
// Length in bytes of the longest path below a node; works at any depth.
std::size_t longest_path(const StagedNode&);

// Removes a node from its directory, if it is still there, and adds it to another.
void detach(const NodePtr&);
void attach(const NodePtr& directory, const NodePtr&, std::string name);
// Does both, and hides the committed name of a directory.
void move_node(const NodePtr&, const NodePtr& to, std::string name);

// The directory, and those above it, exist in the committed state under their present names from now on.
void became_committed(const NodePtr& directory);
void became_table(const NodePtr& directory);

// All names but the last, and the last.
std::pair<std::string, std::string> split_path(const std::string& path);
std::string joined_path(const std::string& directory, const std::string& name);
// Whether the path is that of the directory, or below it.
bool lies_in(const std::string& path, const std::string& directory);

// Whether anything is staged in the node or below: a file, a directory, or a removal.
bool has_changes(const StagedNode&);

// Whether names are set aside in the directory or below.
bool has_set_aside(const StagedNode& directory);
// Shows them again. Returns the paths of the tables and objects concerned.
std::vector<std::string> put_back(StagedNode& directory);

// The journal that had numbers for the directories below, all of them committed, is gone: the next one refers to them
// by their paths.
void forget_numbers(StagedNode& directory);

// No handle below counts as open for writing any more.
void forget_writers(StagedNode&);

// Removes nodes of committed directories without staged contents below the node, unless they are in use elsewhere. A
// column that was cut back to its committed items stays until the journal has a record of that, or ends.
void drop_unused(StagedNode& directory, bool journal_ends = false);

}  // namespace tfilefs
