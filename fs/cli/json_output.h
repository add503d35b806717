// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace tfilefs {

// The output of a command with --json. What is no UTF-8 has replacement characters.
void print_json(const nlohmann::ordered_json&);

}  // namespace tfilefs
