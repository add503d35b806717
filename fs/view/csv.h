// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tfile/plot.h"

namespace tfilefs {

// A line of names, then a line per row: numbers as the shortest text that reads back equal.
std::string csv_text(const tfile::Spreadsheet&);

}  // namespace tfilefs
