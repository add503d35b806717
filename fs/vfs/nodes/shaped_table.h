// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "vfs/nodes/generation.h"
#include "vfs/nodes/loaded_table.h"

namespace tfilefs {

// A table as the mount shows it: with the columns that its user has defined, and of its entries those that are chosen
// (MountContext::shaping). `path`: of the table in the mount. `friends`: gives those of the table, which expressions
// may name; asked only where there are expressions. What is no definition of the table is logged. Errors: those of
// LoadedTable::chosen().
void shape_table(MountContext&, std::shared_ptr<const LoadedTable>, const std::string& path,
                 const std::function<FriendsPtr()>& friends, Reply<std::shared_ptr<const LoadedTable>>);

}  // namespace tfilefs
