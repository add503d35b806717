// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_tree.h"

#include <algorithm>
#include <climits>
#include <utility>

namespace tfilefs {

StagedLook look(const StagedNode& directory, std::string_view name) {
  const auto child = directory.children.find(name);
  if (child != directory.children.end()) {
    const NodePtr& node = child->second;
    return {node->directory ? StagedLook::What::directory : StagedLook::What::file, node};
  }
  if (directory.whiteouts.contains(name) || directory.set_aside.contains(name))
    return {StagedLook::What::whiteout, nullptr};
  return {};
}

std::string staged_path(const StagedNode& node) {
  std::string path;
  NodePtr above;
  for (const StagedNode* at = &node; at; at = above.get()) {
    above = at->parent.lock();
    if (above) path = path.empty() ? at->name : at->name + "/" + path;
  }
  return path;
}

std::optional<std::vector<std::string>> committed_path(const StagedNode& node) {
  std::vector<std::string> names;
  NodePtr above;
  for (const StagedNode* at = &node; at; at = above.get()) {
    above = at->parent.lock();
    if (!above) break;
    if (at->base_name.empty()) return std::nullopt;
    names.push_back(at->base_name);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

bool is_in_table(const StagedNode& node) {
  NodePtr above;
  for (const StagedNode* at = &node; at; at = above.get()) {
    if (at->is_table) return true;
    above = at->parent.lock();
  }
  return false;
}

NodePtr node_at(const NodePtr& root, std::string_view path) {
  NodePtr at = root;
  while (at && !path.empty()) {
    const std::size_t slash = path.find('/');
    const auto child = at->children.find(path.substr(0, slash));
    at = child == at->children.end() ? nullptr : child->second;
    path = slash == std::string_view::npos ? "" : path.substr(slash + 1);
  }
  return at;
}

bool is_short_path(std::string_view path) {
  if (path.size() >= PATH_MAX) return false;
  while (!path.empty()) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.size() > NAME_MAX) return false;
    path.remove_prefix(std::min(name.size() + 1, path.size()));
  }
  return true;
}

bool fits(const StagedNode& directory, std::string_view name, const StagedNode* moved) {
  std::size_t length = name.size();
  NodePtr above;
  for (const StagedNode* at = &directory; at && length < PATH_MAX; at = above.get()) {
    above = at->parent.lock();
    if (above) length += at->name.size() + 1;
  }
  if (moved && length < PATH_MAX) length += longest_path(*moved);
  return name.size() <= NAME_MAX && length < PATH_MAX;
}

std::size_t longest_path(const StagedNode& top) {
  std::size_t longest = 0;
  std::vector<std::pair<const StagedNode*, std::size_t>> left{{&top, 0}};
  while (!left.empty()) {
    const auto [node, length] = left.back();
    left.pop_back();
    longest = std::max(longest, length);
    for (const auto& [name, child] : node->children) left.emplace_back(child.get(), length + 1 + name.size());
  }
  return longest;
}

void detach(const NodePtr& node) {
  const NodePtr parent = node->parent.lock();
  if (!parent) return;
  if (const auto at = parent->children.find(node->name); at != parent->children.end() && at->second == node)
    parent->children.erase(at);
}

void attach(const NodePtr& directory, const NodePtr& node, std::string name) {
  node->name = std::move(name);
  node->parent = directory;
  directory->children.insert_or_assign(node->name, node);
}

void move_node(const NodePtr& node, const NodePtr& to, std::string name) {
  const NodePtr from = node->parent.lock();
  detach(node);
  attach(to, node, std::move(name));
  if (node->base_name.empty()) return;
  if (from) from->whiteouts.emplace(node->base_name);
  if (node->base_name == node->name) to->whiteouts.erase(node->name);
}

void became_committed(const NodePtr& directory) {
  NodePtr above = directory->parent.lock();
  for (NodePtr at = directory; above; at = above, above = at->parent.lock()) at->base_name = at->name;
}

tfile::TableFormat format_of(const StagedNode& directory) {
  const bool is_marked = !directory.is_table && directory.children.contains(kRntupleMarker);
  return is_marked ? tfile::TableFormat::rntuple : directory.format;
}

void became_table(const NodePtr& directory) {
  directory->format = format_of(*directory);
  became_committed(directory);
  directory->is_table = true;
  directory->children.erase(std::string(kTableMarker));
  directory->children.erase(std::string(kRntupleMarker));
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string joined_path(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

bool lies_in(const std::string& path, const std::string& directory) {
  return directory.empty() || path == directory || path.starts_with(directory + "/");
}

namespace {

// A column without staged items behind the committed ones, and without a writer.
bool is_as_committed(const StagedNode& node) {
  return node.continues && node.writers == 0 && node.bytes->size() == node.base;
}

}  // namespace

bool has_changes(const StagedNode& node) {
  if (!node.directory) return !is_as_committed(node);
  if (!node.whiteouts.empty()) return true;
  const NodePtr parent = node.parent.lock();
  if (parent && (node.base_name.empty() || node.base_name != node.name)) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const auto& child) { return has_changes(*child.second); });
}

bool has_set_aside(const StagedNode& directory) {
  if (!directory.set_aside.empty()) return true;
  return std::any_of(directory.children.begin(), directory.children.end(),
                     [](const auto& child) { return has_set_aside(*child.second); });
}

std::vector<std::string> put_back(StagedNode& directory) {
  std::vector<std::string> paths;
  const bool is_key = directory.is_object || directory.is_table;
  if (is_key && has_set_aside(directory)) paths.push_back(staged_path(directory));
  directory.set_aside.clear();
  for (const auto& [name, node] : directory.children) {
    std::vector<std::string> below = put_back(*node);
    if (!is_key) std::move(below.begin(), below.end(), std::back_inserter(paths));
  }
  return paths;
}

void forget_numbers(StagedNode& directory) {
  directory.forgotten = true;
  for (const auto& [name, node] : directory.children) forget_numbers(*node);
}

void forget_writers(StagedNode& node) {
  node.writers = 0;
  for (const auto& [name, child] : node.children) forget_writers(*child);
}

void drop_unused(StagedNode& directory, bool journal_ends) {
  for (auto child = directory.children.begin(); child != directory.children.end();) {
    const NodePtr& node = child->second;
    if (node->directory) drop_unused(*node, journal_ends);
    const bool unused = !node->directory ? is_as_committed(*node) && (journal_ends || !node->bytes->is_cut())
                                         : node.use_count() == 1 && node->children.empty() && node->set_aside.empty() &&
                                               !has_changes(*node);
    if (unused && !node->directory) node->settled = true;
    child = unused ? directory.children.erase(child) : std::next(child);
  }
}

}  // namespace tfilefs
