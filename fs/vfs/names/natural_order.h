// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tfilefs {

// The order of names in which numbers count by their value: "run-2.root" comes before "run-10.root". Names that differ
// only in zeros before a number are in the order of their bytes. Pure.
bool is_before(std::string_view a, std::string_view b);

}  // namespace tfilefs
