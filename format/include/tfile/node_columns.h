// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tfile/node.h"
#include "tfile/writer.h"

namespace tfile {

// The columns at and below a node of a table, each after the offsets and tags around it, as FieldForm has them.
struct NodeColumns {
  std::vector<ColumnId> columns;
  std::vector<std::uint32_t> lists;   // FieldForm::lists
  std::vector<VariantPart> variants;  // FieldForm::variants
};
// Nothing if a variant has more alternatives than VariantPart can count. Pure.
std::optional<NodeColumns> node_columns(std::span<const Node>, std::span<const Column>, NodeId);

// Empties parts of which none says anything.
void drop_idle_parts(std::vector<VariantPart>&);

}  // namespace tfile
