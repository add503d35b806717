// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "staging/overlay/staged_node.h"

namespace tfilefs {

// A file of this name makes a table of the directory that it is put into.
inline constexpr std::string_view kTableMarker = ".table";

// What is staged at a name of a directory.
struct StagedLook {
  enum class What : std::uint8_t {
    nothing,    // whatever is committed under that name
    whiteout,   // nothing, whatever is committed
    file,       // a staged file
    directory,  // a staged directory, or a committed one in which something may be staged
  } what = What::nothing;
  NodePtr node;
};

StagedLook look(const StagedNode& directory, std::string_view name);

// Names from the file's root, '/' between; "" for the root.
std::string staged_path(const StagedNode&);

// The names under which the committed state knows a directory, from the root; nothing where it does not.
std::optional<std::vector<std::string>> committed_path(const StagedNode&);

// Whether the committed state knows a table of it, or of what it lies in.
bool is_in_table(const StagedNode&);

NodePtr node_at(const NodePtr& root, std::string_view path);  // null: not there

// Whether a path below a file's root is short enough: PATH_MAX in all, NAME_MAX each name. It bounds how deep
// directories nest, and so every walk through the tree.
bool is_short_path(std::string_view path);
// The same of a name in a directory, and of all that lies below `moved` when that gets the name.
bool fits(const StagedNode& directory, std::string_view name, const StagedNode* moved = nullptr);
// Bytes of the longest path below a node; good for any depth.
std::size_t longest_path(const StagedNode&);

// Takes a node out of its directory, where it still stands there, and puts it into another.
void detach(const NodePtr&);
void attach(const NodePtr& directory, const NodePtr&, std::string name);
// Both; the committed name of a directory is hidden from then on.
void move_node(const NodePtr&, const NodePtr& to, std::string name);

// A directory that the committed state knows under its name from now on, as it does those above.
void became_committed(const NodePtr& directory);
void became_table(const NodePtr& directory);

// Names in front of the last one, and that.
std::pair<std::string, std::string> split_path(const std::string& path);
std::string joined_path(const std::string& directory, const std::string& name);
// Whether the path is that of the directory, or of something below it.
bool lies_in(const std::string& path, const std::string& directory);

// Whether anything is staged in the node or below: a file, a directory, or a removal.
bool has_changes(const StagedNode&);

// Whether names are set aside in the directory or below.
bool has_set_aside(const StagedNode& directory);
// They are shown again. Gives the paths of tables and objects of which some were.
std::vector<std::string> put_back(StagedNode& directory);

// The journal that knew the directories below, all of them committed, by their numbers is gone: the next one goes by
// their paths.
void forget_numbers(StagedNode& directory);

// Directories of the committed state below the node in which nothing is staged, and that nobody else refers to.
// What was cut off to the committed items stays until the journal has heard of it, or ends.
void drop_unused(StagedNode& directory, bool journal_ends = false);

}  // namespace tfilefs
