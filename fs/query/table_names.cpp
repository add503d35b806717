// SPDX-License-Identifier: Apache-2.0
#include "query/table_names.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "word_distance.h"

namespace tfilefs {

using tfile::Column;
using tfile::ColumnId;
using tfile::Node;
using tfile::NodeId;
using tfile::NodeKind;
using tfile::Role;

namespace {

std::string own_name(const std::vector<Column>& columns, const Node& node) {
  if (!node.original_name.empty()) return node.original_name;
  if (!node.column) return node.name;
  const Column& column = columns[*node.column];
  const std::string suffix = tfile::typed_suffix(column.dtype, column.shape);
  return node.name.ends_with(suffix) ? node.name.substr(0, node.name.size() - suffix.size()) : node.name;
}

// "a.b.c" as its parts.
std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('.'), name.size());
    if (end > 0) parts.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return parts;
}

std::string joined_parts(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

// Nobody mistypes a longer name, and a comparison takes as many steps as both have letters.
constexpr std::size_t kLikeMax = 200;

// Projections of the numbers of named columns.
auto last_part_of(const auto& all) {
  return [&all](std::uint32_t i) -> std::string_view { return all[i].parts.back(); };
}
auto branch_of(const auto& all) {
  return [&all](std::uint32_t i) -> std::string_view { return all[i].branch; };
}

// Branches end in a dot where their members shall begin with their names.
std::string_view without_dot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

}  // namespace

class TableNames::Walk {
 public:
  Walk(const tfile::Table& table, const FriendsBeside& friends, std::vector<Named>& into)
      : table_(table), friends_(friends), into_(into) {}

  // The depth of nodes was bounded when the table was read.
  void add(NodeId id) {
    const Node& node = table_.nodes[id];
    if (node.column) return add_number(node);
    switch (node.kind) {
      case NodeKind::string:
        return add_text(node);
      case NodeKind::record:
        return add_record(id);
      case NodeKind::list:
      case NodeKind::map:
      case NodeKind::optional:
        return add_list(node);
      default:  // what is not decoded, and values of several types
        return;
    }
  }

 private:
  void add_record(NodeId id) {
    const bool is_inside = is_friend_, is_matched_inside = is_matched_;
    is_friend_ = is_inside || std::ranges::find(friends_.records, id) != friends_.records.end();
    is_matched_ = is_matched_inside || std::ranges::find(friends_.matched, id) != friends_.matched.end();
    add_members(table_.nodes[id]);
    is_friend_ = is_inside;
    is_matched_ = is_matched_inside;
    if (!parts_.empty()) add_named({NamedColumn::What::record, 0, {}});
  }
  void add_members(const Node& record) {
    for (const NodeId child : record.children) {
      const Node& node = table_.nodes[child];
      parts_.push_back(own_name(table_.columns, node));
      branch_ = without_dot(node.branch_name);
      add(child);
      parts_.pop_back();
    }
  }

  void add_named(NamedColumn column) { into_.push_back({named_parts(), branch_, is_friend_, std::move(column)}); }
  // In "event.fTracks" as a part, each name is one of its own.
  std::vector<std::string> named_parts() const {
    std::vector<std::string> parts;
    for (const std::string& each : parts_) {
      for (const std::string_view part : parts_of(each)) parts.emplace_back(part);
    }
    return parts;
  }

  std::vector<ListLevel> levels_of(std::span<const ColumnId> lists) {
    std::vector<ListLevel> levels;
    for (const ColumnId list : lists) levels.push_back({of_counter(list), 0, list == matches_});
    return levels;
  }

  void add_number(const Node& node) {
    const Column& column = table_.columns[*node.column];
    if (column.role != Role::values || !column.reason.empty()) return;
    NamedColumn made{NamedColumn::What::number, *node.column, levels_of(column.lists)};
    for (const std::uint32_t size : column.shape) made.levels.push_back({std::nullopt, size, false});
    add_named(std::move(made));
  }

  void add_text(const Node& node) {
    if (node.children.size() < 2) return;
    const ColumnId id = *table_.nodes[node.children[1]].column;
    const Column& column = table_.columns[id];
    if (column.lists.empty() || !column.reason.empty()) return;
    add_named({NamedColumn::What::text, id, levels_of(std::span(column.lists).first(column.lists.size() - 1))});
  }

  void add_list(const Node& node) {
    if (node.children.empty() || !table_.nodes[node.children[0]].column) return;
    const ColumnId offsets = *table_.nodes[node.children[0]].column;
    const std::vector<ColumnId>& around = table_.columns[offsets].lists;
    if (!table_.columns[offsets].reason.empty()) return;
    // Offsets are in the lists of their items, not in their own.
    std::vector<ListLevel> levels;
    for (const ColumnId list : around) {
      if (list != offsets) levels.push_back({of_counter(list), 0, list == matches_});
    }
    // The outermost lists of a friend's columns are its entries.
    if (is_matched_ && levels.empty()) {
      matches_ = offsets;
      for (std::size_t i = 1; i < node.children.size(); ++i) add(node.children[i]);
      return;
    }
    for (std::size_t i = 1; i < node.children.size(); ++i) add(node.children[i]);
    add_named({NamedColumn::What::list, of_counter(offsets), std::move(levels)});
  }

  // Lists that one column counts have the same offsets, in as many entries as both have: they are read once.
  ColumnId of_counter(ColumnId offsets) {
    const auto counter = table_.columns[offsets].counter;
    if (!counter) return offsets;
    return first_counted_.try_emplace({*counter, entries_of_column(table_, offsets)}, offsets).first->second;
  }

  const tfile::Table& table_;
  const FriendsBeside& friends_;
  std::vector<Named>& into_;
  bool is_friend_ = false, is_matched_ = false;              // is_matched_: of some entries
  ColumnId matches_ = std::numeric_limits<ColumnId>::max();  // which of the last lists of entries it has
  std::vector<std::string> parts_;
  std::string branch_;
  std::map<std::pair<ColumnId, std::int64_t>, ColumnId> first_counted_;  // by counter and number of entries
};

TableNames::TableNames(const tfile::Table& table, FriendsBeside friends) : table_(table), friends_(std::move(friends)) {
  if (!table.nodes.empty()) Walk(table, friends_, all_).add(0);
  std::erase_if(all_, [](const Named& named) { return named.parts.empty(); });
  by_last_part_.resize(all_.size());
  std::iota(by_last_part_.begin(), by_last_part_.end(), 0u);
  by_branch_ = by_last_part_;
  std::ranges::stable_sort(by_last_part_, {}, last_part_of(all_));
  std::ranges::stable_sort(by_branch_, {}, branch_of(all_));
}

// Ascending.
std::vector<std::uint32_t> TableNames::that_may_be(std::string_view name, std::string_view last_part) const {
  const std::string_view branch = without_dot(name);
  std::vector<std::uint32_t> found;
  std::set_union(std::ranges::lower_bound(by_last_part_, last_part, {}, last_part_of(all_)),
                 std::ranges::upper_bound(by_last_part_, last_part, {}, last_part_of(all_)),
                 std::ranges::lower_bound(by_branch_, branch, {}, branch_of(all_)),
                 std::ranges::upper_bound(by_branch_, branch, {}, branch_of(all_)), std::back_inserter(found));
  return found;
}

// The outermost column tells: one with an item for each entry, or offsets of lists of entries.
std::int64_t entries_of_column(const tfile::Table& table, ColumnId id) {
  const std::int64_t entries = std::max<std::int64_t>(0, table.entries);
  const std::vector<ColumnId>& lists = table.columns[id].lists;
  const Column& outermost = lists.empty() ? table.columns[id] : table.columns[lists[0]];
  const std::vector<std::int64_t> lengths = table.lengths(outermost.stream);
  if (outermost.slot >= lengths.size() || lengths[outermost.slot] < 0) return entries;
  const std::int64_t own = lengths[outermost.slot] - (outermost.role == Role::offsets ? 1 : 0);
  return std::clamp<std::int64_t>(own, 0, entries);
}

const NamedColumn* TableNames::find(std::string_view name) const {
  const auto wanted = parts_of(name);
  if (wanted.empty()) return nullptr;
  // How well a name fits: 3 all of it, 2 its end, 1 with parents left out, 0 not. Then, what counts more: of the table
  // 6, 5 and 4, of a friend 6, 2 and 1.
  const auto fit = [&](const Named& named) {
    const auto& parts = named.parts;
    if (!named.branch.empty() && named.branch == without_dot(name)) return 3;
    if (parts.size() < wanted.size() || parts.back() != wanted.back()) return 0;
    if (std::equal(wanted.rbegin(), wanted.rend(), parts.rbegin())) return parts.size() == wanted.size() ? 3 : 2;
    auto at = parts.begin();
    for (const std::string_view part : wanted) {
      at = std::find(at, parts.end(), part);
      if (at == parts.end()) return 0;
      ++at;
    }
    return at == parts.end() ? 1 : 0;
  };
  const NamedColumn* best = nullptr;
  int best_fit = 0;
  for (const std::uint32_t i : that_may_be(name, wanted.back())) {
    const Named& named = all_[i];
    const int fits = fit(named), found = fits == 0 || (named.is_of_friend && fits < 3) ? fits : fits + 3;
    // A list of numbers means the numbers; one of records, the list.
    const bool is_better =
        found > best_fit ||
        (found == best_fit && found > 0 && best->what >= NamedColumn::What::list && named.column.what < best->what);
    if (is_better) {
      best = &named.column;
      best_fit = found;
    }
  }
  return best;
}

const std::pair<std::string, std::string>* TableNames::lost_friend(std::string_view name) const {
  const auto is_before = [&](const std::pair<std::string, std::string>& each) {
    return name.size() > each.first.size() && name[each.first.size()] == '.' && name.starts_with(each.first);
  };
  const auto found = std::ranges::find_if(friends_.lost, is_before);
  return found == friends_.lost.end() ? nullptr : &*found;
}

std::string TableNames::nearest(std::string_view name) const {
  if (name.size() > kLikeMax) return "";
  NearestName nearest(name, std::max<std::size_t>(1, name.size() / 2));
  for (const Named& named : all_) {
    nearest.look_at(joined_parts(named.parts));
    nearest.look_at(named.parts.back());
  }
  return nearest.found();
}

}  // namespace tfilefs
