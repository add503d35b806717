// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "object/formula.h"

namespace tfile {

// The steps of a formula. Arguments and errors: Formula::parse(), which calls it.
Result<Formula> parse_formula(std::string_view text, std::size_t variables, std::vector<std::string> names);

}  // namespace tfile
