// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfilefs {

// The meaning of a finding to readers of the file.
enum class FindingClass : std::uint8_t {
  error,    // something cannot be read
  warning,  // programs may read, or continue, it in different ways
  note,     // unusual; nothing is lost
};

// Something wrong in a file (damaged), or something that could not be checked (all other kinds of errors).
struct Finding {
  std::string place;  // path of key names, with the branch; or the record's class and name
  tfile::Error error;
  FindingClass kind = FindingClass::error;
};

struct FileCheck {
  struct CheckedTable {
    std::string path;  // of key names
    std::int64_t entries = 0;
    std::size_t columns = 0;  // parts of columns, each in a file of its own in a mount
  };
  std::vector<Finding> findings;     // by address
  std::vector<CheckedTable> tables;  // in the order of the file
  std::uint64_t records = 0, keys = 0, chunks = 0;
};

// Checks all of a file: header, directories, keys, StreamerInfo; every record, its compression blocks and their
// checksums; every chunk of every table, old cycles too, decoded and counted. `threads` is the number of threads that
// decode. `progress`: told how many bytes of chunks are checked, by one thread at a time. Blocks.
FileCheck check_file(const tfile::File&, unsigned threads, const std::function<void(std::uint64_t)>& progress = {});

}  // namespace tfilefs
