// SPDX-License-Identifier: Apache-2.0
#include "staging/table_progress.h"

#include <algorithm>
#include <map>

#include "staging/column_items.h"

namespace tfilefs {

using tfile::BranchForm;
using tfile::fail;
using tfile::OfferedColumn;
using tfile::Role;

namespace {

using StagedAt = std::map<std::string_view, const StagedColumn*>;

struct Counted {
  std::int64_t entries = 0;
  std::string reason;
};

std::string count(std::int64_t n, const char* what) { return std::to_string(n) + " " + what; }

// Entries of one branch, and what is odd about its columns. `before`: entries that are committed of it.
Counted count_branch(const BranchForm& branch, const std::vector<OfferedColumn>& offered, const StagedAt& staged,
                     std::int64_t before) {
  Counted counted;
  // The counter in front of a counted array is a branch of its own; what lies below a list is counted by it.
  const std::size_t top = branch.kind == BranchForm::Kind::counted_array ? 1 : 0;
  for (std::size_t position = top; position < branch.columns.size(); ++position) {
    const OfferedColumn& column = offered[branch.columns[position]];
    const bool below_list = position > top && branch.kind != BranchForm::Kind::leaflist;
    const auto at = staged.find(column.path);
    if (at == staged.end()) {
      if (!below_list) counted.entries = before;
      continue;
    }
    const StagedColumn& found = *at->second;
    const std::uint64_t size = item_size(column);
    const std::uint64_t payload = found.size - std::min(found.size, found.header);
    if (payload % size != 0) counted.reason = column.path + ": ends within an item";
    const std::int64_t items = entries_of(found, column);
    if (below_list) continue;
    if (branch.kind == BranchForm::Kind::leaflist && position > 0 && items != counted.entries) {
      counted.reason =
          column.path + ": " + count(items, "entries") + ", its neighbours " + std::to_string(counted.entries);
      counted.entries = std::min(counted.entries, items);
      continue;
    }
    counted.entries = items;
  }
  return counted;
}

BranchProgress times_of(const BranchForm& branch, const std::vector<OfferedColumn>& offered, const StagedAt& staged,
                        std::int64_t entries) {
  BranchProgress progress;
  progress.entries = entries;
  for (const std::uint32_t i : branch.columns) {
    const auto at = staged.find(offered[i].path);
    if (at == staged.end()) continue;
    const StagedColumn& column = *at->second;
    const bool first = progress.first_write == BranchProgress::Time{};
    progress.first_write = first ? column.first_write : std::min(progress.first_write, column.first_write);
    progress.last_write = std::max(progress.last_write, column.last_write);
  }
  return progress;
}

// Whether the branch goes with the next commit: its column, or the directory of its columns, was removed.
bool is_removed(const StagedTable& table, const BranchForm& branch, const std::vector<OfferedColumn>& offered) {
  const std::string& path = offered[branch.columns.back()].path;
  const std::string top = path.substr(0, path.find('/'));
  return std::find(table.removed.begin(), table.removed.end(), top) != table.removed.end();
}

}  // namespace

TableProgress progress_of(const StagedTable& table, const CommittedTable* committed) {
  static const tfile::CommittedForm kNothing;
  const tfile::CommittedForm& old = committed ? committed->form : kNothing;
  const std::int64_t before = committed ? committed->entries : 0;
  TableProgress progress;
  const auto lacks = [&](std::string reason) { progress.reasons.push_back(std::move(reason)); };
  StagedAt staged;
  std::vector<OfferedColumn> added;
  std::vector<std::string> open;
  for (const StagedColumn& column : table.columns) {
    staged.emplace(column.path, &column);
    if (!column.unreadable.empty()) {
      lacks(column.path + ": " + column.unreadable);
      continue;
    }
    if (column.is_open) open.push_back(column.path + ": open for writing");
    if (column.base > 0) {
      if (!old.reason.empty()) lacks(column.path + ": no entries can be added, " + old.reason);
      continue;
    }
    auto made = tfile::offered_column(column.path);
    if (!made) {
      lacks(made.error().text);
    } else {
      added.push_back(*std::move(made));
    }
  }
  auto form = tfile::table_form(added);
  if (!form) {
    lacks(form.error().text);
    return progress;
  }
  for (std::string& part : form->incomplete) lacks(std::move(part));

  std::vector<std::pair<std::string, std::int64_t>> counts;
  const auto count_all = [&](const std::vector<BranchForm>& branches, const std::vector<OfferedColumn>& columns,
                             std::int64_t had) {
    for (const BranchForm& branch : branches) {
      if (had > 0 && is_removed(table, branch, columns)) continue;
      const Counted counted = count_branch(branch, columns, staged, had);
      if (!counted.reason.empty()) lacks(counted.reason);
      counts.emplace_back(branch.name, counted.entries);
      progress.branches.push_back(times_of(branch, columns, staged, counted.entries));
    }
  };
  count_all(old.branches, old.columns, before);
  // Branches of types that are not written: what is put beside them has as many entries.
  if (committed && old.branches.empty()) counts.emplace_back("the table", before);
  count_all(form->branches, added, 0);
  if (counts.empty()) {
    lacks("no columns");
    return progress;
  }
  const auto by_entries = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end(), by_entries);
  progress.entries = least->second;
  progress.can_be_cut = progress.reasons.empty();
  for (std::string& line : open) lacks(std::move(line));
  for (const auto& [name, entries] : counts) {
    if (entries != most->second) lacks(name + ": " + count(entries, "entries of ") + std::to_string(most->second));
  }
  progress.whole = progress.reasons.empty();
  return progress;
}

}  // namespace tfilefs
