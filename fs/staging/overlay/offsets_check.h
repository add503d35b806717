// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reply.h"

namespace tfilefs {

struct StagedColumn;

// The staged offsets that were checked: they begin with 0, and none is less than the one before it.
struct OffsetsSeen {
  std::uint64_t bytes = 0;  // of the file; 0: none was checked
  std::int64_t last = 0;
  // The byte at `at` was changed.
  void cut(std::uint64_t at) {
    if (at < bytes) *this = {};
  }
};

// Continues from `seen` to the end. Behind committed offsets the first one is not checked: progress_of knows where
// those end. Blocks. Errors: invalid (an error that no further byte can mend), io.
Result<OffsetsSeen> check_offsets(const StagedColumn&, OffsetsSeen);

}  // namespace tfilefs
