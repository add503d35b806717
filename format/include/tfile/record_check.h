// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tfile/file.h"

namespace tfile {

// A record, or what stands in the place of one, that is not as it must be.
struct RecordError {
  std::string class_name, name;  // empty where no key can be read
  Error error;
};
struct RecordCheck {
  std::uint64_t records = 0;
  std::vector<ByteRange> gaps;      // free space, by address
  std::vector<RecordError> errors;  // by address
};

// Goes from record to record of a file as TFile::Map does, reads each and undoes its compression, with its checksums;
// those whose address `known` has (baskets that were decoded already) are counted alone, and the pages of RNTuples,
// which are compressed one by one, as well. Errors: io (of finding the next record). Reads; blocks.
Result<RecordCheck> check_records(const File&, const std::function<bool(std::uint64_t address)>& known);

}  // namespace tfile
