// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "tfile/table.h"

namespace tfilefs {

// The table with one of its top nodes alone, of the same streams. `table`: whole. Pure.
std::shared_ptr<const tfile::Table> table_of_node(std::shared_ptr<const tfile::Table> table, tfile::NodeId node);

// Whether a node is at the top of its table, so that it has a value in each entry.
bool is_top_node(const tfile::Table&, tfile::NodeId);

}  // namespace tfilefs
