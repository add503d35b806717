// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "query/query_program.h"

namespace tfilefs {

// A function or constant of expressions.
struct QueryFunction {
  bool is_constant = false;
  double constant = 0;
  QueryStep step;  // without its slot and space
};

// By its name: as TTreeFormula has it ("sqrt", "TMath::Sqrt", "pi"), or C. Nothing: there is none with so many
// arguments.
std::optional<QueryFunction> query_function(std::string_view name, std::size_t arguments);

// The name that is most like this one; "" if none is.
std::string function_like(std::string_view name);

}  // namespace tfilefs
