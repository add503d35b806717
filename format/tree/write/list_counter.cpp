// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tree/write/branch_form.h"

namespace tfile {
namespace {

// Numbers of a column of integers, one per entry; nothing if they cannot be read.
std::vector<std::int64_t> integers(const OfferedEntries& entries, std::uint32_t column, Dtype dtype, std::int64_t first,
                                   std::int64_t count) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  if (!entries.items(column, first, bytes)) return {};
  std::vector<std::int64_t> values;
  const bool is_signed = dtype == Dtype::i1 || dtype == Dtype::i2 || dtype == Dtype::i4;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const bool is_negative = is_signed && (std::to_integer<unsigned>(bytes[at + size - 1]) & 0x80U) != 0;
    std::int64_t value = is_negative ? -1 : 0;
    std::memcpy(&value, bytes.data() + at, size);  // both are little-endian
    values.push_back(value);
  }
  return values;
}

// Whether a column of integers has as many entries as there are lists, and each is the length of its list.
bool counts_lists(const OfferedEntries& entries, std::uint32_t counter, Dtype dtype, std::uint32_t offsets) {
  constexpr std::int64_t kPiece = 4096;  // entries at a time: most columns fail within the first few
  const std::int64_t lists = entries.count(offsets);
  if (entries.count(counter) != lists) return false;
  for (std::int64_t at = 0; at < lists; at += kPiece) {
    const std::int64_t part = std::min(kPiece, lists - at);
    const auto counts = integers(entries, counter, dtype, at, part);
    const auto ends = integers(entries, offsets, Dtype::i8, at, part + 1);
    if (counts.empty() || ends.empty()) return false;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (ends[i + 1] - ends[i] != counts[i]) return false;
    }
  }
  return true;
}

}  // namespace

bool can_count(const OfferedColumn& column) {
  const bool is_integer = column.dtype != Dtype::b1 && column.dtype != Dtype::f4 && column.dtype != Dtype::f8;
  return is_integer && column.shape.empty();
}

std::optional<std::uint32_t> counter_of(const FieldForm& field) {
  if (field.encoded.size() <= field.columns.size()) return std::nullopt;
  return field.encoded.front();
}

// Only lists of arrays ask for a counter: any other list can be a vector, whose items cannot be arrays.
void find_list_counters(std::span<OfferedColumn> columns, const OfferedEntries& entries) {
  std::unordered_map<std::string_view, std::uint32_t> offsets;
  std::vector<std::uint32_t> counters;
  for (std::uint32_t i = 0; i < columns.size(); ++i) {
    if (columns[i].role == Role::offsets) offsets.emplace(columns[i].path, i);
    if (can_count(columns[i]) && columns[i].path.find('/') == std::string::npos) counters.push_back(i);
  }
  for (OfferedColumn& items : columns) {
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
