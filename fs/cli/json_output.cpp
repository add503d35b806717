// SPDX-License-Identifier: Apache-2.0
#include "cli/json_output.h"

#include <cstdio>

namespace tfilefs {

void print_json(const nlohmann::ordered_json& value) {
  const std::string text = value.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace tfilefs
