// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ntuple/schema_records.h"
#include "tfile/node.h"

namespace tfile {

// The dtype for the type of a field; nullopt if the type is not a number.
std::optional<Dtype> dtype_of_type(std::string_view type_name);

// The kind of a field with a list of items, by its type: a map, an optional value, or another list.
NodeKind list_kind(const FieldRecord&);

// The number type in "ROOT::RNTupleCardinality<std::uint32_t>"; nullopt for other types.
std::optional<Dtype> cardinality_dtype(std::string_view type_name);

// The name of a field's node: "values" for the item of a list, "key" and "value" for the parts of a map's item, "first"
// and "second" for those of a pair. A base has the name of its class, an alternative that of its type.
std::string shown_name(const FieldRecord& field, const FieldRecord* parent, const FieldRecord* grandparent);

}  // namespace tfile
