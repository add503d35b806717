// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "cache/ahead/usage_history.h"
#include "tfile/node.h"

namespace tfilefs {

// Learns which columns of a chain's table are read together, from file to file: what was learnt in one of them holds
// for the next. Pure.
class FileVisits {
 public:
  explicit FileVisits(std::size_t files) : history_(static_cast<std::uint32_t>(files)) {}

  // A reader of the column reads in the file. Returns what was read with it in the files before, once for each file
  // that it comes to; without columns whose readers are there already, or farther on.
  std::vector<tfile::ColumnId> visit(tfile::ColumnId, std::size_t file);

 private:
  UsageHistory history_;                                   // its parts are files, its streams columns
  std::unordered_map<tfile::ColumnId, std::size_t> last_;  // the file in which each column was read last
};

}  // namespace tfilefs
