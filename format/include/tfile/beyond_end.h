// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

inline bool is_beyond_end(ByteRange range, std::uint64_t file_size) {
  return range.begin > file_size || range.size > file_size - range.begin;
}

// Bytes that a file of `file_size` bytes should have, and has not. `what` goes before their number. Not installed.
inline tl::unexpected<Error> fail_beyond_end(const char* what, ByteRange range, std::uint64_t file_size) {
  return fail(ErrorKind::damaged,
              what + std::to_string(range.size) + " bytes lie beyond the end of the file of " +
                  std::to_string(file_size) + " bytes",
              static_cast<std::int64_t>(range.begin));
}

}  // namespace tfile
