// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/list_lengths.h"
#include "tree/write/branch_form.h"

namespace tfile {
namespace {

// Whether a column of integers has as many entries as there are lists, and each is the length of its list.
bool counts_lists(const OfferedEntries& entries, std::uint32_t counter, Dtype dtype, std::uint32_t offsets) {
  const std::int64_t lists = entries.count(offsets);
  return entries.count(counter) == lists && are_lengths(entries, counter, dtype, offsets, lists);
}

}  // namespace

bool can_count(const InputColumn& column) {
  const bool is_integer = column.dtype != Dtype::b1 && column.dtype != Dtype::f4 && column.dtype != Dtype::f8;
  return is_integer && column.shape.empty();
}

std::optional<std::uint32_t> counter_of(const FieldForm& field) {
  if (field.encoded.size() <= field.columns.size()) return std::nullopt;
  return field.encoded.front();
}

// Only lists of arrays ask for a counter: any other list can be a vector, whose items cannot be arrays.
void find_list_counters(std::span<InputColumn> columns, const OfferedEntries& entries) {
  std::unordered_map<std::string_view, std::uint32_t> offsets;
  std::vector<std::uint32_t> counters;
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == Role::offsets) offsets.emplace(columns[i].path, i);
    if (can_count(columns[i]) && columns[i].path.find('/') == std::string::npos) counters.push_back(i);
  }
  for (InputColumn& items : columns) {
    const std::size_t slash = items.path.find('/');
    if (items.shape.empty() || slash == std::string::npos) continue;
    const auto list = offsets.find(items.path.substr(0, slash) + "/offsets.i8");
    if (list == offsets.end()) continue;
    const auto counter = std::ranges::find_if(
        counters, [&](std::uint32_t each) { return counts_lists(entries, each, columns[each].dtype, list->second); });
    if (counter != counters.end()) items.counter = columns[*counter].path;
  }
}

}  // namespace tfile
