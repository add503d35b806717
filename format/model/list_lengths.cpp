// SPDX-License-Identifier: Apache-2.0
#include "model/list_lengths.h"

#include <algorithm>
#include <cstring>

namespace tfile {
namespace {

// Numbers of a column of integers; nothing if they cannot be read.
std::vector<std::int64_t> integers(const OfferedEntries& entries, std::uint32_t column, Dtype dtype, std::int64_t first,
                                   std::int64_t count) {
  const std::size_t size = size_of(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  if (!entries.items(column, first, bytes)) return {};
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(count));
  const bool is_signed = dtype == Dtype::i1 || dtype == Dtype::i2 || dtype == Dtype::i4;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    const bool is_negative = is_signed && (std::to_integer<unsigned>(bytes[at + size - 1]) & 0x80U) != 0;
    std::int64_t value = is_negative ? -1 : 0;
    std::memcpy(&value, bytes.data() + at, size);  // both are little-endian
    values.push_back(value);
  }
  return values;
}

}  // namespace

std::vector<std::string> counter_names(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    names.push_back("n" + std::string(list));
    const std::size_t underscore = list.rfind('_');
    list = list.substr(0, underscore == list.npos ? 0 : underscore);
  }
  return names;
}

bool are_lengths(const OfferedEntries& entries, std::uint32_t numbers, Dtype dtype, std::uint32_t offsets,
                 std::int64_t count) {
  constexpr std::int64_t kPiece = 4096;  // entries at a time: most columns fail within the first few
  for (std::int64_t at = 0; at < count; at += kPiece) {
    const std::int64_t part = std::min(kPiece, count - at);
    const auto counts = integers(entries, numbers, dtype, at, part);
    const auto ends = integers(entries, offsets, Dtype::i8, at, part + 1);
    if (counts.empty() || ends.empty()) return false;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (ends[i + 1] - ends[i] != counts[i]) return false;
    }
  }
  return true;
}

}  // namespace tfile
