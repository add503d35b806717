// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tfilefs {

// For a file whose name is that of a table in another program's format (T.parquet, T.csv): what is taken instead.
// `in_table`: whether it lies in a table, where only columns are.
std::optional<std::string> taken_instead(std::string_view name, bool in_table);

}  // namespace tfilefs
