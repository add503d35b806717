// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "ntuple/field_nodes.h"

namespace tfile {
namespace {

constexpr std::pair<std::string_view, Dtype> kNumbers[] = {
    {"bool", Dtype::b1},          {"char", Dtype::i1},          {"std::byte", Dtype::u1},
    {"std::int8_t", Dtype::i1},   {"std::uint8_t", Dtype::u1},  {"std::int16_t", Dtype::i2},
    {"std::uint16_t", Dtype::u2}, {"std::int32_t", Dtype::i4},  {"std::uint32_t", Dtype::u4},
    {"std::int64_t", Dtype::i8},  {"std::uint64_t", Dtype::u8}, {"float", Dtype::f4},
    {"double", Dtype::f8},
};

constexpr std::string_view kMaps[] = {"std::map<", "std::unordered_map<", "std::multimap<", "std::unordered_multimap<"};
constexpr std::string_view kOptionals[] = {"std::optional<", "std::unique_ptr<"};

template <std::size_t kCount>
bool begins_with_one(std::string_view text, const std::string_view (&beginnings)[kCount]) {
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

}  // namespace

std::optional<Dtype> dtype_of_type(std::string_view type_name) {
  const auto* found = std::ranges::find(kNumbers, type_name, &std::pair<std::string_view, Dtype>::first);
  return found == std::end(kNumbers) ? std::nullopt : std::optional(found->second);
}

NodeKind list_kind(const FieldRecord& field) {
  if (begins_with_one(field.type_name, kMaps)) return NodeKind::map;
  return begins_with_one(field.type_name, kOptionals) ? NodeKind::optional : NodeKind::list;
}

std::optional<Dtype> cardinality_dtype(std::string_view type_name) {
  constexpr std::string_view kCardinality = "ROOT::RNTupleCardinality<";
  if (!type_name.starts_with(kCardinality) || !type_name.ends_with(">")) return std::nullopt;
  return dtype_of_type(type_name.substr(kCardinality.size(), type_name.size() - kCardinality.size() - 1));
}

std::string shown_name(const FieldRecord& field, const FieldRecord* parent, const FieldRecord* grandparent) {
  if (!parent) return field.name;
  if (parent->role == FieldRole::collection) return "values";
  if (parent->role == FieldRole::variant) return field.type_name;
  if (parent->role == FieldRole::record) {
    if (field.name.starts_with(":_")) return field.type_name;
    const bool in_map =
        grandparent && grandparent->role == FieldRole::collection && list_kind(*grandparent) == NodeKind::map;
    if (in_map || parent->type_name.starts_with("std::pair<")) {
      if (field.name == "_0") return in_map ? "key" : "first";
      if (field.name == "_1") return in_map ? "value" : "second";
    }
  }
  return field.name;
}

}  // namespace tfile
