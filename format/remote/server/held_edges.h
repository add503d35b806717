// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "tfile/source.h"

namespace tfile {

// The parts of a remote file that are read when it is opened, of its beginning and its end. The beginning has
// the header and the root directory. The end has the list of keys and the StreamerInfo, of most files also the
// descriptions of the last tables; on a line of 1 MB/s it takes a quarter of a second. A file that is no longer than
// `whole_max` is read as a whole.
struct HeldEdges {
  std::uint64_t begin = 4 << 10, end = 256 << 10, whole_max = 1 << 20;
  // The begin of the end that is read.
  std::uint64_t end_from(std::uint64_t size) const { return size <= std::max(whole_max, end) ? 0 : size - end; }
};

// If many files are opened together, all ends pass the same line, and each over a connection that begins slowly:
// so much arrives in three round trips. It has the descriptions of tables of some hundred branches.
inline HeldEdges held_edges(const RemoteOptions& options) {
  return options.is_one_of_many ? HeldEdges{4 << 10, 64 << 10, 128 << 10} : HeldEdges{};
}

}  // namespace tfile
