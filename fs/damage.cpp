// SPDX-License-Identifier: Apache-2.0
#include "damage.h"

#include <algorithm>
#include <string>

namespace tfilefs {

using tfile::ErrorKind;

tl::unexpected<tfile::Error> ends_early(std::uint64_t offset, std::uint64_t found, std::uint64_t expected) {
  return tfile::fail(ErrorKind::damaged, "column is shorter than its metadata says: at byte " + std::to_string(offset) +
                                             " it has " + std::to_string(found) + " bytes, expected " +
                                             std::to_string(expected));
}

tl::unexpected<tfile::Error> wrong_size(std::uint32_t chunk, std::size_t slot, std::size_t bytes,
                                        const std::string& expected) {
  return tfile::fail(ErrorKind::damaged, "chunk " + std::to_string(chunk) + " holds " + std::to_string(bytes) +
                                             " bytes of column " + std::to_string(slot) + ", expected " + expected);
}

tl::unexpected<tfile::Error> unsound_offsets(std::span<const std::int64_t> offsets, tfile::ItemRange range) {
  const auto fall = std::is_sorted_until(offsets.begin(), offsets.end());
  if (fall == offsets.end())
    return tfile::fail(ErrorKind::damaged, "list offsets " + std::to_string(offsets.front()) + " to " +
                                               std::to_string(offsets.back()) + ", expected within " +
                                               std::to_string(range.begin) + " to " + std::to_string(range.end));
  return tfile::fail(ErrorKind::damaged, "list offsets decrease at element " + std::to_string(fall - offsets.begin()) +
                                             ": " + std::to_string(*fall) + " after " + std::to_string(*(fall - 1)));
}

}  // namespace tfilefs
