// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ntuple/field_nodes.h"
#include "ntuple/schema_records.h"
#include "ntuple/write/stored_columns.h"
#include "tfile/writer.h"

namespace tfile {

// A field that shows the lengths of a list, as `nMuon` beside `Muon`: a projection onto the index column of that list
// ("Alias columns"). Nothing of it is stored; its entries are compared with those of the list.

// Finds such fields by names and entries, as find_projections(). Blocks.
void find_list_lengths(std::span<InputColumn>, const OfferedEntries&);

// Adds to each field of the form that is to show lengths (InputColumn::counts) the offsets from which it is encoded:
// if the form has that list. Pure.
void tie_lengths(std::span<const InputColumn>, WriteSchema&);

// Whether a field of such a form shows lengths. Its columns to be encoded are the offsets, then its own.
bool shows_lengths(const FieldForm&);

// Appends the records of such a field to a schema that has those of its list. Errors: invalid (it has none).
Result<> add_length_field(std::span<const InputColumn>, const FieldForm&, SchemaRecords&);

// Marks such fields of a file, by FieldId.
std::vector<bool> length_fields(const SchemaRecords&);

// How such a field is stored, or rather its list. `written`: those of the same nodes. Errors: unsupported (it is none).
Result<StoredField> stored_lengths(const FieldNodes&, std::span<const ColumnNumber> written, ColumnId offsets,
                                   ColumnId lengths);

// A part of a field that shows lengths, which has no bytes. Pure; for any thread. Errors: invalid (with the first entry
// that is not the length of its list).
Result<Part> encode_lengths(const StoredField&, const OfferedPart&);

}  // namespace tfile
