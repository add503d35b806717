// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tfilefs {

// BEFORE, six letters that mkostemps(3), mkostemp(3) and mkdtemp(3) change, ENDING. Pure.
inline std::string temporary_name(const std::string& before, const std::string& ending = "") {
  return before + std::string(6, 'X') + ending;
}

}  // namespace tfilefs
