// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tfilefs {

// What writers that ended have left in journals beside a ROOT file, or beside those in a directory and below: a line
// for each file, with its path and how to get what is left. Changes nothing. Blocks.
std::vector<std::string> left_journals(const std::string& source);

}  // namespace tfilefs
