// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tfile/table.h"

namespace tfilefs {

// The nodes of a table, ascending, that another one does not show, which else shows the same nodes and columns in the
// same order. Nothing if they differ otherwise. Their streams may have other numbers. Pure.
std::optional<std::vector<tfile::NodeId>> nodes_left_out(const tfile::Table& of, const tfile::Table& shown);

}  // namespace tfilefs
