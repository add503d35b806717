// SPDX-License-Identifier: Apache-2.0
#include "staging/overlay/offsets_check.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "staging/overlay/staged_table.h"

namespace tfilefs {

using tfile::fail;

namespace {

constexpr std::uint64_t kItem = sizeof(std::int64_t);
constexpr std::uint64_t kPiece = std::uint64_t{64} << 10;  // bytes at a time

Result<> check_next(const StagedColumn& column, std::int64_t value, OffsetsSeen& seen) {
  const auto item = static_cast<std::int64_t>((seen.bytes - column.header) / kItem);
  if (item == 0 && value != 0)
    return fail(ErrorKind::invalid, column.path + ": begins with " + std::to_string(value) + ", not 0");
  if (value < seen.last)
    return fail(ErrorKind::invalid, column.path + ": offsets decrease: item " + std::to_string(item) + " is " +
                                        std::to_string(value) + ", after " + std::to_string(seen.last));
  seen.last = value;
  seen.bytes += kItem;
  return {};
}

}  // namespace

Result<OffsetsSeen> check_offsets(const StagedColumn& column, OffsetsSeen seen) {
  seen.bytes = std::max({seen.bytes, column.header, column.base});
  std::vector<std::byte> piece;
  while (seen.bytes + kItem <= column.size) {
    const std::uint64_t left = column.size - seen.bytes;
    piece.resize(std::min(kPiece, left - left % kItem));
    TRY(const std::size_t got, column.bytes->read(seen.bytes, piece));
    if (got < piece.size()) return fail(ErrorKind::invalid, column.path + ": has become shorter");
    for (std::size_t at = 0; at < got; at += kItem) {
      std::int64_t value = 0;
      std::memcpy(&value, piece.data() + at, kItem);
      TRY_VOID(check_next(column, value, seen));
    }
  }
  return seen;
}

}  // namespace tfilefs
