// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tfilefs {

// Reports the data that writers which ended have left in journals, of a ROOT file or of all files in a directory and
// below: a line per file, with its path and how to recover the data. Changes nothing. Blocks.
std::vector<std::string> left_journals(const std::string& source);

}  // namespace tfilefs
