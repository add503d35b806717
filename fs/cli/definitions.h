// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "query/query.h"
#include "reply.h"

namespace tfilefs {

// Names for expressions, as --define gives them: NAME=EXPR. Errors: invalid.
Result<NamedExpressions> parse_definitions(const std::vector<std::string>&);

// As complain(): the lines of a message that shows where an expression is wrong.
int complain_in_lines(const Error&);

}  // namespace tfilefs
