// SPDX-License-Identifier: Apache-2.0
#pragma once  // experimental until 1.0: a minor version may change what is declared here

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfile {

// A damaged record, or damage in a place where a record should begin.
struct RecordError {
  std::string class_name, name;  // empty if no key can be read
  Error error;
};
struct RecordCheck {
  std::uint64_t records = 0;
  std::vector<ByteRange> gaps;      // free space, by address
  std::vector<ByteRange> free;      // what the list of free segments has, by address: writers use it
  std::vector<RecordError> errors;  // by address
};

// Walks a file from record to record as TFile::Map does, and reads and decompresses each, which checks its checksums.
// It only counts records for which `known` is true (baskets that were decoded before) and the pages of RNTuples, which
// are compressed one by one. Errors: io (while finding the next record). Blocks.
Result<RecordCheck> check_records(const File&, const std::function<bool(std::uint64_t address)>& known);

// Whether the record of a key begins with the key that the list of keys has. Errors: damaged, io. Blocks.
Result<> check_key_in_record(const File&, const KeyInfo&);

}  // namespace tfile
