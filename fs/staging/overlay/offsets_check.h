// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reply.h"

namespace tfilefs {

struct StagedColumn;

// Staged offsets that were looked at: they begin with 0, and none is less than the one before it.
struct OffsetsSeen {
  std::uint64_t bytes = 0;  // of the file; 0: nothing was looked at
  std::int64_t last = 0;
  // The byte at `at` is not what it was.
  void cut(std::uint64_t at) {
    if (at < bytes) *this = {};
  }
};

// Goes on from what was seen to the end. Behind committed offsets the first one is taken as it is: progress_of knows
// where those end. Blocks. Errors: invalid (which no further byte can mend), io.
Result<OffsetsSeen> check_offsets(const StagedColumn&, OffsetsSeen);

}  // namespace tfilefs
