// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "ntuple/write/schema_encode.h"

namespace tfile {

// The schema of an RNTuple without some fields. The others, and their columns, have new numbers.
struct RemainingSchema {
  SchemaLists header, extension;
  std::vector<bool> keeps_column;  // by former number
};

// `dropped`: names of top-level fields. The lists are those of `schema`. Errors: unsupported (a field that stays shows
// the values of one that goes).
Result<RemainingSchema> without_fields(const SchemaLists& header, const SchemaLists& extension,
                                       const SchemaRecords& schema, const std::set<std::string, std::less<>>& dropped);

// The lists of a header that read_header_envelope has accepted.
Result<SchemaLists> lists_of_header(std::span<const std::byte> header);

}  // namespace tfile
