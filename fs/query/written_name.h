// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tfile/expression.h"

namespace tfilefs {

using ExpressionNodes = std::span<const tfile::ExpressionNode>;

// The operands of the whole, from left to right.
std::vector<ExpressionNodes> operands_of(ExpressionNodes);

// The name of a column, as it stands in several nodes: "muons[0].p4.pt".
struct WrittenName {
  std::string name;                      // "muons.p4.pt"
  std::vector<ExpressionNodes> indices;  // each of one node if it has no number
  std::size_t at = 0;
  bool is_object = false;  // "@muons"
};

// Nothing if the nodes are no name.
std::optional<WrittenName> written_name(ExpressionNodes);

// The name in "@muons.size" and the like that is asked for its size; "": it is no such name.
std::string name_of_sized(std::string name);

// All names that stand in an expression, each as a whole: not "muons" of "muons.pt".
std::vector<WrittenName> written_names(ExpressionNodes);

}  // namespace tfilefs
