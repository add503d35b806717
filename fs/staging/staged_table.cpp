// SPDX-License-Identifier: Apache-2.0
#include "staging/staged_table.h"

#include <algorithm>
#include <string_view>

#include "array/npy.h"
#include "staging/staged_arrow.h"
#include "staging/staged_tree.h"
#include "tfile/node.h"

namespace tfilefs {
namespace {

constexpr std::string_view kOffsetsName = "offsets.i8", kItemsName = "values", kCharsName = "chars.u1";

bool is_column_name(std::string_view name) {
  return name.ends_with(".npy") ? name.size() > 4 && name[0] != '.' : tfile::parse_typed_name(name).has_value();
}

// What the values of a list are called, and the bytes of a string.
bool is_items_name(std::string_view name) {
  const auto typed = tfile::parse_typed_name(name);
  return typed && (typed->stem == kItemsName || name == kCharsName);
}

// Whether the directory may be a list in a table to come: its own is new, and not the file's root.
bool may_be_list(const StagedNode& directory) {
  const NodePtr above = directory.parent.lock();
  return above && above->base_name.empty() && above->parent.lock();
}

// Of a new directory: whether it holds a number, a list or a string. The items of a list may come before its offsets.
bool makes_table(const StagedNode& directory) {
  const bool may_wait = may_be_list(directory);
  return std::any_of(directory.children.begin(), directory.children.end(), [may_wait](const auto& child) {
    const auto& [name, node] = child;
    if (node->directory) return node->children.contains(kOffsetsName) && !(may_wait && name == kItemsName);
    if (name == kTableMarker) return true;
    return name != kOffsetsName && is_column_name(name) && !(may_wait && is_items_name(name));
  });
}

// Whether something is staged in it or below.
bool holds_files(const StagedNode& directory) {
  return std::any_of(directory.children.begin(), directory.children.end(),
                     [](const auto& child) { return !child.second->directory || holds_files(*child.second); });
}

class Changes {
 public:
  StagedChanges take(const NodePtr& root) {
    walk(root, "");
    return std::move(made_);
  }

  void add_columns(const StagedNode& directory, const std::string& below, StagedTable& into);

 private:
  bool walk(const NodePtr& directory, const std::string& path);
  void add_table(const NodePtr& directory, const std::string& path);

  StagedChanges made_;
};

// A directory that is no table; gives whether something is staged in it or below.
bool Changes::walk(const NodePtr& directory, const std::string& path) {
  CommitWork& rest = made_.rest;
  bool holds = false;
  std::set<std::string_view> moved;
  for (const auto& [name, node] : directory->children) {
    const std::string at = joined_path(path, name);
    if (!node->directory) {
      holds = true;
      if (const auto table = arrow_table_name(name)) {
        made_.arrows.push_back({node, at, joined_path(path, *table), node->bytes->size(), node->writers > 0});
      } else {
        made_.misplaced.push_back({at, is_items_name(name) && directory->base_name.empty()});
      }
      continue;
    }
    const bool is_new = node->base_name.empty();
    if (!is_new && node->base_name != name) {
      rest.renamed.push_back({{path, node->base_name}, {path, name}});
      rest.moved.push_back(node);
      moved.insert(node->base_name);
    }
    if (node->is_table || (is_new && makes_table(*node))) {
      add_table(node, at);
      holds |= holds_files(*node);
      continue;
    }
    if (is_new) {
      rest.directories.push_back(at);
      rest.made.push_back(node);
    }
    const bool below = walk(node, at);
    if (is_new && below) rest.undecided.insert(at);
    holds |= below;
  }
  for (const std::string& name : directory->hidden) {
    if (moved.contains(name)) continue;
    rest.removed.push_back({path, name});
    rest.hidden.emplace_back(directory, name);
  }
  return holds;
}

void Changes::add_table(const NodePtr& directory, const std::string& path) {
  StagedTable table;
  table.node = directory;
  table.path = path;
  table.committed = !directory->base_name.empty();
  if (const auto names = table.committed ? committed_path(*directory) : std::nullopt) {
    for (const std::string& name : *names) table.committed_path = joined_path(table.committed_path, name);
  }
  add_columns(*directory, "", table);
  table.removed.assign(directory->hidden.begin(), directory->hidden.end());
  std::sort(table.columns.begin(), table.columns.end(),
            [](const StagedColumn& a, const StagedColumn& b) { return a.node->id < b.node->id; });
  const bool changes = !table.columns.empty() || !table.removed.empty() || !table.missing.empty();
  if (changes || table.forced) made_.tables.push_back(std::move(table));
}

void Changes::add_columns(const StagedNode& directory, const std::string& below, StagedTable& into) {
  if (!below.empty()) {
    for (const std::string& name : directory.hidden) into.missing.push_back(joined_path(below, name));
  }
  for (const auto& [name, node] : directory.children) {
    if (node->directory) {
      add_columns(*node, joined_path(below, name), into);
      continue;
    }
    if (below.empty() && name == kTableMarker) {
      into.forced = true;
      continue;
    }
    StagedColumn column;
    column.node = node;
    column.path = joined_path(below, name);
    column.bytes = node->bytes;
    column.size = node->bytes->size();
    column.base = node->base;
    column.is_open = node->writers > 0;
    column.is_committing = node->bytes->is_frozen();
    column.first_write = node->first_write;
    column.last_write = node->last_write;
    column.title = node->attributes.title;
    into.columns.push_back(std::move(column));
  }
}

}  // namespace

void read_npy_header(StagedColumn& column) {
  constexpr std::string_view kSuffix = ".npy";
  if (!column.path.ends_with(kSuffix) || column.base > 0) return;
  std::vector<std::byte> start(std::min<std::uint64_t>(column.size, kNpyHeaderMax));
  const auto got = column.bytes->read(0, start);
  auto header = got ? parse_npy_header(std::span(start).first(*got)) : Result<NpyHeader>(tl::unexpected(got.error()));
  if (!header) {
    column.unreadable = header.error().text;
    return;
  }
  column.header = header->size;
  std::string stem = column.path.substr(0, column.path.size() - kSuffix.size());
  // "px.f4.npy" and "px.npy" are the same.
  if (const auto typed = tfile::parse_typed_name(stem); typed && typed->dtype == header->dtype) stem = typed->stem;
  column.path = stem + tfile::typed_suffix(header->dtype, header->shape);
}

std::optional<std::pair<NodePtr, std::string>> table_above(const NodePtr& file) {
  std::vector<NodePtr> above;  // from the file's directory up to the root's children
  for (NodePtr at = file->parent.lock(); at && at->parent.lock(); at = at->parent.lock()) above.push_back(at);
  for (std::size_t i = above.size(); i-- > 0;) {
    if (!above[i]->is_table && !(above[i]->base_name.empty() && makes_table(*above[i]))) continue;
    std::string path;
    for (std::size_t below = i; below-- > 0;) path += above[below]->name + "/";
    return std::pair{above[i], path + file->name};
  }
  return std::nullopt;
}

std::string refusal_of(const StagedNode& table, const std::string& path) {
  if (!tfile::parse_typed_name(path.substr(path.rfind('/') + 1))) return {};
  auto self = tfile::offered_column(path);
  if (!self) return self.error().text;
  // What makes a branch together lies below one name of the table.
  const std::string top = path.substr(0, path.find('/'));
  const auto beside = table.children.find(top);
  if (beside == table.children.end() || !beside->second->directory) return {};
  StagedTable part;
  Changes().add_columns(*beside->second, top, part);
  std::vector<tfile::OfferedColumn> offered;
  for (const StagedColumn& column : part.columns) {
    if (auto one = tfile::offered_column(column.path)) offered.push_back(*std::move(one));
  }
  const auto form = tfile::table_form(offered);
  return form ? "" : form.error().text;
}

void keep_needed_directories(CommitWork& work, bool last) {
  std::vector<std::string> paths;
  std::set<std::string> left;
  std::vector<NodePtr> nodes;
  for (std::size_t i = 0; i < work.directories.size(); ++i) {
    const std::string& path = work.directories[i];
    const std::string below = path + "/";
    const bool needed = std::any_of(work.tables.begin(), work.tables.end(), [&](const CommitWork::Table& table) {
      return table.staged.path.starts_with(below);
    });
    const bool above_left = left.contains(path.substr(0, path.rfind('/')));
    if (needed || (last && !above_left && !work.undecided.contains(path))) {
      paths.push_back(path);
      nodes.push_back(work.made[i]);
    } else {
      left.insert(path);
    }
  }
  work.directories = std::move(paths);
  work.made = std::move(nodes);
}

StagedChanges staged_changes(const NodePtr& root) { return Changes().take(root); }

}  // namespace tfilefs
