// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace tfilefs {

// The number of letters to change, add or leave out to turn one word into the other.
std::size_t word_distance(std::string_view a, std::string_view b);

}  // namespace tfilefs
