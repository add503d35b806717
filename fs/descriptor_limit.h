// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tfilefs {

// How many files may be open for one purpose: `wanted`, or less where the process may have few descriptors: one for
// each so many of them, without some that the process needs besides. At least two.
std::size_t files_within_limit(std::size_t wanted, std::size_t descriptors);

}  // namespace tfilefs
