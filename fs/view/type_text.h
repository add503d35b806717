// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/table.h"

namespace tfilefs {

// The type of a node for each entry, in words: "float32", "float64[2][3]", "list of int16", "string",
// "record", "list of record". Empty if that is not known yet (Table::unresolved). Pure.
std::string type_text(const tfile::Table&, tfile::NodeId);

}  // namespace tfilefs
