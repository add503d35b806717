// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "object/formula.h"

namespace tfile {

// Parses a formula into steps. Formula::parse() calls it; the arguments and errors are the same.
Result<Formula> parse_formula(std::string_view text, std::size_t variables, std::vector<std::string> names);

}  // namespace tfile
