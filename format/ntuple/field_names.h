// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ntuple/schema_records.h"
#include "tfile/node.h"

namespace tfile {

// The number that a type of a field stands for; nullopt for what is no number.
std::optional<Dtype> dtype_of_type(std::string_view type_name);

// What a field with a list of items is, by its type: a map, or what holds a value or none, or any other list.
NodeKind list_kind(const FieldRecord&);

// "ROOT::RNTupleCardinality<std::uint32_t>": the type of the number; nullopt for other types.
std::optional<Dtype> cardinality_dtype(std::string_view type_name);

// The name of a field's node: "values" for the item of a list, "key" and "value" for the parts of a map's item,
// "first" and "second" for those of a pair; for a base the name of its class, for an alternative that of its type.
std::string shown_name(const FieldRecord& field, const FieldRecord* parent, const FieldRecord* grandparent);

}  // namespace tfile
