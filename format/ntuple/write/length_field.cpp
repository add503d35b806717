// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/length_field.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "bytes/endian.h"
#include "bytes/offset_at.h"
#include "model/input_nodes.h"
#include "model/list_lengths.h"
#include "tfile/name.h"

namespace tfile {
namespace {

// The types of ROOT's cardinality fields.
constexpr const char* kNarrowType = "ROOT::RNTupleCardinality<std::uint32_t>";
constexpr const char* kWideType = "ROOT::RNTupleCardinality<std::uint64_t>";

bool can_be_length(const InputColumn& column) {
  return (column.dtype == Dtype::u4 || column.dtype == Dtype::u8) && column.shape.empty() &&
         column.path.find('/') == std::string::npos;
}

// A list of an RNTuple, whatever its items are. Texts have an index column, too, but are no collections for ROOT.
struct List {
  std::vector<std::string> counters;  // names under which one is looked for
  std::uint32_t offsets = 0;
};

std::vector<List> lists_of(std::span<const OfferedNode> tops, std::span<const InputColumn> columns) {
  std::vector<List> lists;
  for (const OfferedNode& top : tops) {
    const OfferedNode* offsets = offsets_in(top, columns);
    const bool has_items =
        std::ranges::any_of(top.children, [](const OfferedNode& child) { return stem_of(child) == "values"; });
    if (offsets != nullptr && has_items) lists.push_back({counter_names(field_name_of(top)), *offsets->column});
  }
  return lists;
}

std::uint64_t number_at(std::span<const std::byte> numbers, Dtype dtype, std::size_t i) {
  if (dtype == Dtype::u4) return load_little<std::uint32_t>(numbers.data() + sizeof(std::uint32_t) * i);
  return load_little<std::uint64_t>(numbers.data() + sizeof(std::uint64_t) * i);
}

}  // namespace

// A list of the counter's own name comes before those with a longer one.
void find_list_lengths(std::span<InputColumn> columns, const OfferedEntries& entries) {
  const auto tops = offered_nodes(columns);
  if (!tops) return;
  std::unordered_map<std::string, std::uint32_t> numbers;
  for (const OfferedNode& top : *tops) {
    if (top.column && can_be_length(columns[*top.column])) numbers.emplace(field_name_of(top), *top.column);
  }
  const std::vector<List> lists = lists_of(*tops, columns);
  const auto try_as = [&](const std::string& name, const List& list) {
    const auto found = numbers.find(name);
    if (found == numbers.end()) return;
    InputColumn& number = columns[found->second];
    if (!number.counts.empty()) return;
    const std::int64_t numbers_there = entries.count(found->second), lists_there = entries.count(list.offsets);
    const std::int64_t both = std::min(numbers_there, lists_there);
    // Without an entry names decide: as in other files of the same form, which hadd joins.
    const bool may_tell = both > 0 || (numbers_there == 0 && lists_there == 0);
    if (may_tell && are_lengths(entries, found->second, number.dtype, list.offsets, both))
      number.counts = columns[list.offsets].path;
  };
  for (const List& list : lists) try_as(list.counters.front(), list);
  for (const List& list : lists) {
    for (std::size_t i = 1; i < list.counters.size(); ++i) try_as(list.counters[i], list);
  }
}

void tie_lengths(std::span<const InputColumn> columns, WriteSchema& form) {
  std::unordered_map<std::string_view, std::uint32_t> offsets;
  for (const FieldForm& field : form.fields) {
    const std::uint32_t first = field.encoded.front();
    if (columns[first].role == Role::offsets && field.lists.front() == FieldForm::kEachEntry)
      offsets.emplace(columns[first].path, first);
  }
  for (FieldForm& field : form.fields) {
    const InputColumn& own = columns[field.columns.front()];
    const auto list = offsets.find(own.counts);
    if (own.counts.empty() || !can_be_length(own) || list == offsets.end()) continue;
    field.encoded = {list->second, field.columns.front()};
    field.lists = {FieldForm::kEachEntry, FieldForm::kEachEntry};
  }
}

bool shows_lengths(const FieldForm& form) { return form.encoded.size() > form.columns.size(); }

Result<> add_length_field(std::span<const InputColumn> columns, const FieldForm& form, SchemaRecords& schema) {
  const InputColumn& offsets = columns[form.encoded.front()];
  const std::string list = unescape_name(offsets.path.substr(0, offsets.path.find('/')));
  FieldId source = static_cast<FieldId>(schema.fields.size());
  while (source > 0 && (schema.fields[source - 1].parent != source - 1 || schema.fields[source - 1].name != list))
    --source;
  const auto index = std::ranges::find(schema.columns, source - 1, &ColumnRecord::field);
  if (source == 0 || index == schema.columns.end())
    return fail(ErrorKind::invalid, form.name + ": no such list " + list);
  const auto id = static_cast<FieldId>(schema.fields.size());
  FieldRecord& field = schema.fields.emplace_back();
  field.parent = id;
  field.name = form.name;
  field.type_name = columns[form.columns.front()].dtype == Dtype::u4 ? kNarrowType : kWideType;
  field.description = form.title;
  field.projected_from = source - 1;
  schema.aliases.push_back({static_cast<ColumnNumber>(index - schema.columns.begin()), id});
  return {};
}

std::vector<bool> length_fields(const SchemaRecords& schema) {
  std::vector<bool> found(schema.fields.size());
  const auto is_top = [&](FieldId id) { return schema.fields[id].parent == id; };
  for (FieldId id = 0; id < found.size(); ++id) {
    const FieldRecord& field = schema.fields[id];
    const bool has_type = field.type_name == kNarrowType || field.type_name == kWideType;
    if (!has_type || !field.projected_from || !is_top(id) || field.role != FieldRole::leaf || field.array_size)
      continue;
    const FieldId source = *field.projected_from;
    found[id] = is_top(source) && schema.fields[source].role == FieldRole::collection;
  }
  for (FieldId id = 0; id < found.size(); ++id) {
    if (!is_top(id)) found[schema.fields[id].parent] = false;
  }
  for (const AliasRecord& alias : schema.aliases) {
    if (found[alias.field] && schema.columns[alias.column].field != *schema.fields[alias.field].projected_from)
      found[alias.field] = false;
  }
  return found;
}

Result<StoredField> stored_lengths(const FieldNodes& made, std::span<const ColumnNumber> written, ColumnId offsets,
                                   ColumnId lengths) {
  const Column& shown = made.columns[lengths];
  const FieldStream& stream = made.streams[shown.stream];
  if (stream.kind != FieldStream::Kind::sizes || stream.from != made.columns[offsets].stream)
    return fail(ErrorKind::unsupported, shown.path + " does not show lengths of " + made.columns[offsets].path);
  StoredField stored;
  TRY(const StoredColumn list, stored_column(made, written, offsets));
  StoredColumn own;
  own.dtype = shown.dtype;
  stored.columns = {list, own};
  stored.lists = {FieldForm::kEachEntry, FieldForm::kEachEntry};
  stored.lengths_of = made.columns[offsets].path;
  stored.lengths_of.resize(stored.lengths_of.find('/'));
  return stored;
}

Result<Part> encode_lengths(const StoredField& field, const OfferedPart& offered) {
  const std::span<const std::byte> offsets = offered.columns[0], numbers = offered.columns[1];
  const Dtype dtype = field.columns[1].dtype;
  const auto entries = static_cast<std::size_t>(offered.entries.size());
  const auto invalid = [&](std::size_t entry, const std::string& what) {
    return fail(ErrorKind::invalid, field.name + ", entry " +
                                        std::to_string(offered.entries.begin + static_cast<std::int64_t>(entry)) +
                                        ": " + what);
  };
  if (offsets.size() != sizeof(std::int64_t) * (entries + 1) || numbers.size() != size_of(dtype) * entries)
    return invalid(0, "the number of lengths or lists differs from what was requested");
  for (std::size_t i = 0; i < entries; ++i) {
    const auto length = static_cast<std::uint64_t>(offset_at(offsets, i + 1) - offset_at(offsets, i));
    const std::uint64_t number = number_at(numbers, dtype, i);
    if (number == length) continue;
    return invalid(i, "it is " + std::to_string(number) + ", but the list " + field.lengths_of +
                          ", whose lengths it shows, has " + std::to_string(static_cast<std::int64_t>(length)) +
                          " items");
  }
  Part part;
  part.entries = offered.entries.size();
  part.raw_bytes = static_cast<std::int64_t>(numbers.size());  // so that parts are as large as those of numbers
  return part;
}

}  // namespace tfile
