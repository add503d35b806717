// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/field_removal.h"

#include <cstring>
#include <functional>
#include <optional>

#include "ntuple/field_nodes.h"

namespace tfile {
namespace {

constexpr const char* kSchemaName = "RNTuple schema";

// The places of the numbers that change, in the body of a record: the parent of a field, the field of a column, the
// column and the field of an alias column.
constexpr std::size_t kParentOffset = 4 + 4, kFieldOffset = 2 + 2, kAliasOffset = 0, kAliasFieldOffset = 4;

// New numbers for what is kept; the others have none.
using Numbers = std::vector<std::optional<std::uint32_t>>;

Numbers numbers_of(const std::vector<bool>& keep) {
  Numbers numbers(keep.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) numbers[i] = next++;
  }
  return numbers;
}

// A number in a record that becomes the new one of the same field or column.
struct Change {
  std::size_t offset;
  const Numbers* numbers;
};
using Changes = std::vector<Change>;

// The place of the field that a projected one shows, behind its texts.
std::optional<std::size_t> source_offset(std::span<const std::byte> field) {
  constexpr std::size_t kFlagsOffset = kParentOffset + 4 + 2;
  using namespace field_flag;
  Cursor in(field);
  in.skip(kFlagsOffset, kSchemaName);
  const auto flags = in.little<std::uint16_t>(kSchemaName);
  for (int text = 0; text < 4; ++text) take_text(in, kSchemaName);
  if (flags & kIsRepetitive) in.skip(sizeof(std::uint64_t), kSchemaName);
  if (in.failed() || !(flags & kIsProjected)) return std::nullopt;
  return field.size() - in.left();
}

// The items of a list that are kept. `number` counts the items of header and extension together.
Result<ListItems> remaining(const ListItems& items, const std::vector<bool>& keep,
                            const std::function<Changes(std::span<const std::byte>)>& changes, std::size_t& number) {
  ListItems kept;
  Cursor in(items.bytes);
  for (std::uint32_t i = 0; i < items.count; ++i, ++number) {
    EnvelopeFrame record = take_record(in, kSchemaName);
    const std::span<const std::byte> taken = record.body.take(record.body.size(), kSchemaName);
    if (in.failed() || number >= keep.size()) break;
    if (!keep[number]) continue;
    std::vector<std::byte> body(taken.begin(), taken.end());
    for (const auto& [offset, numbers] : changes(taken)) {
      if (body.size() < offset + sizeof(std::uint32_t)) {
        in.reject(kSchemaName);
        break;
      }
      const auto former = load_little<std::uint32_t>(body.data() + offset);
      const auto now = former < numbers->size() ? (*numbers)[former] : std::nullopt;
      if (!now) in.reject(kSchemaName);
      if (now) std::memcpy(body.data() + offset, &*now, sizeof *now);
    }
    kept.add(body);
  }
  return in.finish(std::move(kept));
}

// No field that stays may show one that goes.
Result<> check_shown(const SchemaRecords& schema, const std::vector<bool>& keep) {
  const auto refused = [&](FieldId shows, FieldId shown) {
    return fail(ErrorKind::unsupported, path_of_field(schema, shown) +
                                            " cannot be removed alone: " + path_of_field(schema, shows) +
                                            " projects its values, and must be removed as well");
  };
  for (FieldId id = 0; id < schema.fields.size(); ++id) {
    const FieldRecord& field = schema.fields[id];
    if (keep[id] && field.projected_from && !keep[*field.projected_from]) return refused(id, *field.projected_from);
  }
  for (const AliasRecord& alias : schema.aliases) {
    const FieldId shown = schema.columns[alias.column].field;
    if (keep[alias.field] && !keep[shown]) return refused(alias.field, shown);
  }
  return {};
}

}  // namespace

Result<RemainingSchema> without_fields(const SchemaLists& header, const SchemaLists& extension,
                                       const SchemaRecords& schema, const std::set<std::string, std::less<>>& dropped) {
  std::vector<bool> keep(schema.fields.size());
  for (FieldId id = 0; id < schema.fields.size(); ++id) {  // parents first
    const FieldRecord& field = schema.fields[id];
    keep[id] = field.parent == id ? !dropped.contains(field.name) : keep[field.parent];
  }
  TRY_VOID(check_shown(schema, keep));
  const Numbers fields = numbers_of(keep);
  RemainingSchema left;
  for (const ColumnRecord& column : schema.columns) left.keeps_column.push_back(keep[column.field]);
  std::vector<bool> keeps_alias;
  for (const AliasRecord& alias : schema.aliases) keeps_alias.push_back(keep[alias.field]);
  const Numbers columns = numbers_of(left.keeps_column);
  const auto of_field = [&](std::span<const std::byte> record) {
    Changes changes = {{kParentOffset, &fields}};
    if (const auto source = source_offset(record)) changes.push_back({*source, &fields});
    return changes;
  };
  const auto of_column = [&](std::span<const std::byte>) { return Changes{{kFieldOffset, &fields}}; };
  const auto of_alias = [&](std::span<const std::byte>) {
    return Changes{{kAliasOffset, &columns}, {kAliasFieldOffset, &fields}};
  };
  left.header = header;
  left.extension = extension;
  std::size_t field = 0, column = 0, alias = 0;
  for (const auto& [from, to] : {std::pair{&header, &left.header}, std::pair{&extension, &left.extension}}) {
    TRY(to->fields, remaining(from->fields, keep, of_field, field));
    TRY(to->columns, remaining(from->columns, left.keeps_column, of_column, column));
    TRY(to->aliases, remaining(from->aliases, keeps_alias, of_alias, alias));
  }
  return left;
}

Result<SchemaLists> lists_of_header(std::span<const std::byte> header) {
  TRY(Envelope envelope, open_envelope(header, EnvelopeType::header));
  Cursor& in = envelope.payload;
  TRY_VOID(check_feature_flags(in));
  for (int text = 0; text < 3; ++text) take_text(in, kSchemaName);
  SchemaLists lists = take_schema_lists(in, kSchemaName);
  return in.finish(std::move(lists));
}

}  // namespace tfile
