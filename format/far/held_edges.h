// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace tfile {

// Of a file that is far away, this much of its beginning and its end is read when it is opened. The beginning has the
// header and the root directory. The end has the list of keys and the StreamerInfo, of most files also the descriptions
// of the last tables; on a line of 1 MB/s it takes a quarter of a second. A file that is no longer than kWholeMax is
// read as a whole.
inline constexpr std::uint64_t kBeginHeld = 4 << 10, kEndHeld = 256 << 10, kWholeMax = 1 << 20;

// Where the end that is read begins.
inline std::uint64_t end_held_from(std::uint64_t size) { return size <= kWholeMax ? 0 : size - kEndHeld; }

}  // namespace tfile
