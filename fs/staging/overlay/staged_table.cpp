// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/staged_table.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "array/npy.h"
#include "staging/overlay/staged_arrow.h"
#include "staging/overlay/staged_object.h"
#include "staging/overlay/staged_tree.h"
#include "tfile/node.h"
#include "tfile/variant_type.h"

namespace tfilefs {
namespace {

constexpr std::string_view kOffsetsName = "offsets.i8", kItemsName = "values", kCharsName = "chars.u1";

bool is_column_name(std::string_view name) {
  return name.ends_with(".npy") ? name.size() > 4 && name[0] != '.' : tfile::parse_typed_name(name).has_value();
}

// The name of the values of a list, and of the bytes of a string.
bool is_items_name(std::string_view name) {
  const auto typed = tfile::parse_typed_name(name);
  return typed && (typed->stem == kItemsName || name == kCharsName);
}

// Whether the directory may be a list in a future table: its own directory is new, and not the file's root.
bool may_be_list(const StagedNode& directory) {
  const NodePtr above = directory.parent.lock();
  return above && above->base_name.empty() && above->parent.lock();
}

// Whether a new directory holds a number, a list or a string. The items of a list may come before its offsets.
bool makes_table(const StagedNode& directory) {
  if (makes_object(directory)) return false;
  const bool may_wait = may_be_list(directory);
  return std::any_of(directory.children.begin(), directory.children.end(), [may_wait](const auto& child) {
    const auto& [name, node] = child;
    if (node->directory) return node->children.contains(kOffsetsName) && !(may_wait && name == kItemsName);
    if (is_marker(name)) return true;
    return name != kOffsetsName && is_column_name(name) && !(may_wait && is_items_name(name));
  });
}

// Whether there are staged files in it or below.
bool holds_files(const StagedNode& directory) {
  return std::any_of(directory.children.begin(), directory.children.end(),
                     [](const auto& child) { return !child.second->directory || holds_files(*child.second); });
}

std::optional<std::int64_t> time_set_on(const StagedNode& node) {
  return node.attributes.time_was_set ? std::optional(std::int64_t{node.attributes.modified.tv_sec}) : std::nullopt;
}

// The time set on a new table's directory; else the latest time set on its columns, if all of them have one.
std::optional<std::int64_t> time_set_on(const StagedTable& table) {
  if (const auto own = time_set_on(*table.node); own && !table.committed) return own;
  std::optional<std::int64_t> newest;
  for (const StagedColumn& column : table.columns) {
    const auto time = time_set_on(*column.node);
    if (!time) return std::nullopt;
    newest = std::max(newest, time);
  }
  return newest;
}

class StagedWalk {
 public:
  StagedChanges take(const NodePtr& root) {
    walk(root, "");
    return std::move(made_);
  }

  void add_columns(const StagedNode& directory, const std::string& below, StagedTable& into);

 private:
  bool walk(const NodePtr& directory, const std::string& path);
  void add_file(const StagedNode& directory, const std::string& path, const NodePtr& file);
  void add_table(const NodePtr& directory, const std::string& path);
  void add_object(const NodePtr& directory, const std::string& path);
  std::string_view add_renamed(const NodePtr& node, const std::string& path);
  void add_removed(const NodePtr& directory, const std::string& path, const std::set<std::string_view>& moved);

  StagedChanges made_;
};

// Walks a directory that is no table; returns whether there are staged files in it or below.
bool StagedWalk::walk(const NodePtr& directory, const std::string& path) {
  CommitWork& rest = made_.rest;
  bool holds = false;
  std::set<std::string_view> moved;
  for (const auto& [name, node] : directory->children) {
    const std::string at = joined_path(path, name);
    if (!node->directory) {
      holds = true;
      add_file(*directory, path, node);
      continue;
    }
    const bool is_new = node->base_name.empty();
    if (is_new && makes_object(*node)) {
      holds = true;
      add_object(node, at);
      continue;
    }
    if (is_new && !node->refusal.empty()) {
      if (!holds_files(*node)) continue;
      made_.refused.push_back({at, node->refusal});
      holds = true;
      continue;
    }
    if (!is_new && node->base_name != name) moved.insert(add_renamed(node, path));
    if (node->is_table || (is_new && makes_table(*node))) {
      add_table(node, at);
      holds |= holds_files(*node);
      continue;
    }
    if (node->is_object) continue;  // nothing new can be in it
    if (is_new) rest.directories.push_back({at, node, time_set_on(*node), node->attributes.class_name});
    const bool below = walk(node, at);
    if (is_new && below) rest.undecided.insert(at);
    holds |= below;
  }
  add_removed(directory, path, moved);
  return holds;
}

// Returns the name that it had.
std::string_view StagedWalk::add_renamed(const NodePtr& node, const std::string& path) {
  made_.rest.renamed.push_back({{path, node->base_name}, {path, node->name}});
  made_.rest.moved.push_back(node);
  return node->base_name;
}

void StagedWalk::add_removed(const NodePtr& directory, const std::string& path,
                             const std::set<std::string_view>& moved) {
  for (const std::string& name : directory->whiteouts) {
    if (moved.contains(name)) continue;
    made_.rest.removed.push_back({path, name});
    made_.rest.whiteouts.emplace_back(directory, name);
  }
}

// A file outside of tables.
void StagedWalk::add_file(const StagedNode& directory, const std::string& path, const NodePtr& file) {
  const std::string at = joined_path(path, file->name);
  if (const auto table = arrow_table_name(file->name)) {
    made_.arrows.push_back(
        {file, at, joined_path(path, *table), file->bytes->size(), file->writers > 0, time_set_on(*file)});
  } else {
    const bool waits = is_items_name(file->name) && directory.base_name.empty();
    made_.misplaced.push_back({at, waits, file->writers > 0});
  }
}

void StagedWalk::add_table(const NodePtr& directory, const std::string& path) {
  StagedTable table;
  table.node = directory;
  table.path = path;
  table.title = directory->attributes.title;
  table.format = format_of(*directory);
  table.committed = !directory->base_name.empty();
  if (const auto names = table.committed ? committed_path(*directory) : std::nullopt) {
    for (const std::string& name : *names) table.committed_path = joined_path(table.committed_path, name);
  }
  add_columns(*directory, "", table);
  table.modified = time_set_on(table);
  table.removed.assign(directory->whiteouts.begin(), directory->whiteouts.end());
  std::sort(table.columns.begin(), table.columns.end(),
            [](const StagedColumn& a, const StagedColumn& b) { return a.node->id < b.node->id; });
  const bool is_empty =
      table.columns.empty() && table.removed.empty() && table.missing.empty() && table.refused.empty() && !table.forced;
  if (!is_empty) made_.tables.push_back(std::move(table));
}

void StagedWalk::add_object(const NodePtr& directory, const std::string& path) {
  StagedTable all;
  all.node = directory;
  add_columns(*directory, "", all);
  made_.objects.push_back(
      {directory, path, {}, directory->attributes.title, directory->attributes.class_name, time_set_on(all)});
  made_.objects.back().files = std::move(all.columns);
}

void StagedWalk::add_columns(const StagedNode& directory, const std::string& below, StagedTable& into) {
  if (!below.empty()) {
    for (const std::string& name : directory.whiteouts) into.missing.push_back(joined_path(below, name));
  }
  for (const auto& [name, node] : directory.children) {
    if (node->directory && !node->refusal.empty()) {
      if (holds_files(*node)) into.refused.push_back(node->refusal);
      continue;
    }
    if (node->directory) {
      const std::string path = joined_path(below, name);
      if (!node->attributes.class_name.empty()) into.classes.emplace(path, node->attributes.class_name);
      add_columns(*node, path, into);
      continue;
    }
    if (below.empty() && is_marker(name)) {
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
    column.encoding = node->attributes.encoding;
    into.columns.push_back(std::move(column));
  }
}

}  // namespace

namespace {
constexpr std::string_view kNpySuffix = ".npy";
}

std::vector<std::pair<std::string, std::string>> classes_above(const StagedTable& table, const std::string& path) {
  std::vector<std::pair<std::string, std::string>> above;
  for (const auto& [directory, name] : table.classes) {
    if (path.starts_with(directory + "/")) above.emplace_back(directory, name);
  }
  return above;
}

bool is_tags(std::string_view path) {
  return path.ends_with(tfile::kTagsName) && path.size() > tfile::kTagsName.size() &&
         path[path.size() - tfile::kTagsName.size() - 1] == '/';
}

bool has_tags(const StagedTable& table) {
  return std::ranges::any_of(table.columns, [](const StagedColumn& column) { return is_tags(column.path); });
}

std::optional<std::string> index_beside(std::string_view path) {
  if (!is_tags(path)) return std::nullopt;
  return std::string(path.substr(0, path.size() - tfile::kTagsName.size())).append(tfile::kIndexName);
}

bool is_npy(std::string_view path) { return path.ends_with(kNpySuffix); }

// The fault in the length of a .npy file of `size` bytes: a copy that ended early has fewer than its header says.
std::string lack_of_rows(const NpyHeader& header, std::uint64_t size) {
  std::uint64_t bytes = tfile::size_of(header.dtype);
  bool is_too_large = __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(header.length), &bytes);
  for (const std::uint32_t extent : header.shape) is_too_large |= __builtin_mul_overflow(bytes, extent, &bytes);
  const std::uint64_t there = size - std::min<std::uint64_t>(size, header.size);
  if (!is_too_large && there == bytes) return "";
  return "its header says " + std::to_string(header.length) + " rows, but " + std::to_string(there) +
         " bytes follow it";
}

void read_npy_header(StagedColumn& column) {
  if (!is_npy(column.path) || column.base > 0) return;
  std::vector<std::byte> start(std::min<std::uint64_t>(column.size, kNpyHeaderMax));
  const auto got = column.bytes->read(0, start);
  auto header = got ? parse_npy_header(std::span(start).first(*got)) : Result<NpyHeader>(tl::unexpected(got.error()));
  if (!header) {
    column.unreadable = column.path + ": " + header.error().text;
    return;
  }
  if (const auto lack = lack_of_rows(*header, column.size); !lack.empty()) {
    column.unreadable = column.path + ": " + lack;
    return;
  }
  column.header = header->size;
  std::string stem = column.path.substr(0, column.path.size() - kNpySuffix.size());
  // "px.f4.npy" and "px.npy" give the same name.
  if (const auto typed = tfile::parse_typed_name(stem); typed && typed->dtype == header->dtype) stem = typed->stem;
  column.path = stem + tfile::typed_suffix(header->dtype, header->shape);
}

std::optional<std::pair<NodePtr, std::string>> table_above(const StagedNode& file) {
  std::vector<NodePtr> above;  // from the file's directory up to the root's children
  for (NodePtr at = file.parent.lock(); at && at->parent.lock(); at = at->parent.lock()) above.push_back(at);
  for (std::size_t i = above.size(); i-- > 0;) {
    if (makes_object(*above[i])) return std::nullopt;
    if (!above[i]->is_table && !(above[i]->base_name.empty() && makes_table(*above[i]))) continue;
    std::string path;
    for (std::size_t below = i; below-- > 0;) path += above[below]->name + "/";
    return std::pair{above[i], path + file.name};
  }
  return std::nullopt;
}

namespace {

using Offered = std::vector<tfile::InputColumn>;

void add_column(Offered& columns, tfile::InputColumn column) {
  if (std::ranges::count(columns, column.path, &tfile::InputColumn::path) == 0) columns.push_back(std::move(column));
}

// The columns of the staged files below one name of the table, which form a field together.
Offered offered_below(const StagedNode& top, const std::string& name) {
  StagedTable staged;
  StagedWalk().add_columns(top, name, staged);
  Offered columns;
  for (const StagedColumn& column : staged.columns) {
    if (auto one = tfile::offered_column(column.path)) columns.push_back(*std::move(one));
  }
  return columns;
}

// Why these columns cannot be that field; empty if they can.
std::string refusal_of_field(const Offered& columns, const std::string& name, tfile::TableFormat format) {
  const auto form = tfile::offered_form(columns, format);
  if (form) return {};
  return form.error().text + "; leave it out (rm -r " + name +
         ": then the rest of the table can be committed), or write each member as its own column or list";
}

// The directories above that path that may be lists whose offsets are still to come: all columns in them are under
// `values`. The outermost comes first.
std::vector<std::string> lists_above(const std::string& path, const Offered& columns) {
  std::vector<std::string> lists;
  for (std::size_t at = path.find("/values/"); at != path.npos; at = path.find("/values/", at + 1)) {
    const std::string list = path.substr(0, at), items = list + "/values";
    const bool has_others = std::ranges::any_of(columns, [&](const tfile::InputColumn& column) {
      return column.path.starts_with(list + "/") && !lies_in(column.path, items);
    });
    if (!has_others) lists.push_back(list);
  }
  return lists;
}

// Adds a column to each of those directories.
void add_to_each(std::span<const std::string> directories, const char* column, Offered& columns) {
  for (const std::string& directory : directories) {
    if (auto made = tfile::offered_column(joined_path(directory, column))) add_column(columns, *std::move(made));
  }
}

// Files that may still come decide as well: such a column is refused if it can be nothing whatever follows. A directory
// with `values` alone becomes a list by its offsets, or a record by other members; in trees records are not written
// below others, nor with more than numbers in lists, so that the outermost one alone may still become one.
std::string refusal_of_any(Offered columns, const std::string& path, tfile::TableFormat format) {
  const std::string name = path.substr(0, path.find('/'));
  std::string reason = refusal_of_field(columns, name, format);
  const std::vector<std::string> lists = lists_above(path, columns);
  if (!reason.empty() || lists.empty()) return reason;
  Offered as_record = columns;
  add_to_each(lists, "offsets.i8", columns);
  reason = refusal_of_field(columns, name, format);
  if (reason.empty() || lists.front() != name) return reason;
  add_to_each(std::span(lists).first(1), "other.f4", as_record);
  add_to_each(std::span(lists).subspan(1), "offsets.i8", as_record);
  return refusal_of_field(as_record, name, format).empty() ? "" : reason;
}

Refusal refusal_with(const StagedNode& table, tfile::InputColumn column) {
  const std::string path = column.path;
  const std::string name = path.substr(0, path.find('/'));
  const auto top = table.children.find(name);
  if (top == table.children.end() || !top->second->directory) return {};
  Offered columns = offered_below(*top->second, name);
  add_column(columns, std::move(column));
  std::string reason = refusal_of_any(std::move(columns), path, format_of(table));
  if (reason.empty()) return {};
  return {std::move(reason), top->second->base_name.empty() ? top->second : nullptr};
}

// Whether the path is that of a new file or directory in a field that is committed without it. Where something that is
// committed was removed, what is put in its place is not: it waits until all of the field is removed.
bool is_late(const StagedNode& table, const std::string& path) {
  if (!table.is_table) return false;
  const StagedNode* at = &table;
  for (std::size_t begin = 0, slash = path.find('/'); slash != path.npos; slash = path.find('/', begin)) {
    const auto below = at->children.find(path.substr(begin, slash - begin));
    if (at->whiteouts.contains(path.substr(begin, slash - begin)) || below == at->children.end()) return false;
    at = below->second.get();
    if (begin == 0 && at->base_name.empty()) return false;
    begin = slash + 1;
  }
  return at != &table && !at->whiteouts.contains(split_path(path).second);
}

}  // namespace

std::string reason_of_late(const std::string& path) {
  const std::string name = path.substr(0, path.find('/'));
  return path + ": " + name +
         " is committed without it, and accepts no more members: write it as a column of its own, or rewrite " + name +
         " (rm -r " + name + "), creating all of its files before filling them";
}

Refusal refusal_of(const StagedNode& table, const std::string& path) {
  const std::string file = split_path(path).second;
  if (is_column_name(file) && is_late(table, path)) return {reason_of_late(path), nullptr};
  if (!tfile::parse_typed_name(file)) return {};
  auto self = tfile::offered_column(path);
  if (!self) return {self.error().text, nullptr};
  if (path.find('/') == path.npos) {
    const auto form = tfile::offered_form(std::span(&*self, 1), format_of(table));
    return {form ? std::string() : form.error().text, nullptr};
  }
  return refusal_with(table, *std::move(self));
}

// Any file in it would be refused as the offsets of a list are, which can be where a column cannot.
Refusal refusal_of_directory(const StagedNode& table, const std::string& path) {
  if (is_late(table, path)) return {reason_of_late(path), nullptr};
  if (path.find('/') == path.npos || split_path(path).second == kItemsName) return {};
  auto member = tfile::offered_column(joined_path(path, "offsets.i8"));
  return member ? refusal_with(table, *std::move(member)) : Refusal{};
}

std::vector<Refusal> examine_table(const StagedNode& table) {
  std::vector<Refusal> found;
  for (const auto& [name, node] : table.children) {
    if (!node->directory || !node->base_name.empty() || !node->refusal.empty()) continue;
    std::string reason = refusal_of_field(offered_below(*node, name), name, format_of(table));
    if (!reason.empty()) found.push_back({std::move(reason), node});
  }
  return found;
}

bool is_left_over(const StagedNode& node) {
  if (!node.directory || !node.base_name.empty() || holds_files(node)) return false;
  if (!node.refusal.empty()) return true;
  for (NodePtr above = node.parent.lock(); above && above->parent.lock(); above = above->parent.lock()) {
    if (above->is_table || (above->base_name.empty() && makes_table(*above))) return true;
  }
  return false;
}

bool concerns(const std::string& below, const std::string& table) {
  return lies_in(table, below) || lies_in(below, table);
}

bool rests_on_names(const CommitWork& work) {
  const auto holds_table = [&](const CommitWork::Key& key) {
    const std::string path = joined_path(key.directory, key.name);
    return std::ranges::any_of(work.tables,
                               [&](const CommitWork::Table& table) { return lies_in(table.staged.path, path); }) ||
           std::ranges::any_of(work.objects, [&](const StagedObject& object) { return lies_in(object.path, path); });
  };
  return std::ranges::any_of(work.removed, holds_table) ||
         std::ranges::any_of(work.renamed, holds_table, &CommitWork::Rename::to);
}

void keep_needed_directories(CommitWork& work, bool last) {
  std::vector<CommitWork::Directory> kept;
  std::set<std::string> left;
  for (CommitWork::Directory& directory : work.directories) {
    const std::string& path = directory.path;
    const std::string below = path + "/";
    const bool needed =
        std::ranges::any_of(work.tables,
                            [&](const CommitWork::Table& table) { return table.staged.path.starts_with(below); }) ||
        std::ranges::any_of(work.objects, [&](const StagedObject& object) { return object.path.starts_with(below); });
    const bool above_left = left.contains(path.substr(0, path.rfind('/')));
    if (needed || (last && !above_left && !work.undecided.contains(path))) {
      kept.push_back(std::move(directory));
    } else {
      left.insert(path);
    }
  }
  work.directories = std::move(kept);
}

StagedChanges staged_changes(const NodePtr& root) { return StagedWalk().take(root); }

}  // namespace tfilefs
