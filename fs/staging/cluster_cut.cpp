// SPDX-License-Identifier: Apache-2.0
#include "staging/cluster_cut.h"

#include <algorithm>

namespace tfilefs {

bool in_step(std::span<const BranchProgress> branches) {
  if (branches.empty()) return false;
  const auto newest = std::ranges::max_element(branches, {}, &BranchProgress::first_write)->first_write;
  return std::ranges::all_of(branches, [&](const BranchProgress& branch) { return branch.last_write >= newest; });
}

}  // namespace tfilefs
