// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ntuple/schema_records.h"
#include "tfile/result.h"
#include "tfile/writer.h"

namespace tfile {

// The fields that offered columns form in an RNTuple. Errors: invalid (what an RNTuple does not hold). `not_held`: is
// told what that is, and the form is that of the rest. Pure.
Result<WriteSchema> ntuple_form(std::span<const InputColumn>, std::vector<NotHeld>* not_held = nullptr);

// The same fields as records of a schema: appends to it those of the fields in `form`, with the types of columns that
// ROOT chooses for compressed or uncompressed pages.
Result<> add_to_schema(std::span<const InputColumn>, const WriteSchema& form, bool compressed, SchemaRecords&);

}  // namespace tfile
