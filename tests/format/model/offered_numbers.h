// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "tfile/writer.h"

namespace tfile {

// Columns to be offered: paths, and the numbers of each.
using OfferedNumbers = std::vector<std::pair<const char*, std::vector<std::int64_t>>>;

inline std::vector<InputColumn> columns_of(const OfferedNumbers& all) {
  std::vector<InputColumn> columns;
  for (const auto& [path, numbers] : all) columns.push_back(*offered_column(path));
  return columns;
}

// Both must outlive the result.
inline OfferedEntries entries_of(const OfferedNumbers& all, const std::vector<InputColumn>& columns) {
  OfferedEntries entries;
  entries.count = [&](std::uint32_t column) {
    const auto numbers = static_cast<std::int64_t>(all[column].second.size());
    return columns[column].role == Role::offsets ? numbers - 1 : numbers;
  };
  entries.items = [&](std::uint32_t column, std::int64_t first, std::span<std::byte> into) {
    const std::size_t size = size_of(columns[column].dtype);
    for (std::size_t i = 0; i < into.size() / size; ++i)
      std::memcpy(into.data() + i * size, &all[column].second.at(static_cast<std::size_t>(first) + i), size);
    return true;
  };
  return entries;
}

}  // namespace tfile
