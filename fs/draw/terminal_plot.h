// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "query/draw.h"

namespace tfilefs {

// The drawing as text in so many columns: of one axis bars made of blocks, with a scale; of two axes shades; of three
// only its statistics, which stand below each.
std::string terminal_plot(const Drawing&, std::size_t columns, bool is_log);

}  // namespace tfilefs
