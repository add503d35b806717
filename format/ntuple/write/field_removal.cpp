// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/field_removal.h"

#include <algorithm>
#include <cstring>

namespace tfile {
namespace {

constexpr const char* kWhat = "RNTuple schema";

// The places of the numbers that change, in the body of a record: the parent of a field, the field of a column.
constexpr std::size_t kParentOffset = 4 + 4, kFieldOffset = 2 + 2;

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

// The items of a list that are kept. `number` counts the items of header and extension together. The number at `offset`
// in each item becomes that of the same field.
Result<ListItems> remaining(const ListItems& items, std::size_t offset, const std::vector<bool>& keep,
                            const Numbers& fields, std::size_t& number) {
  ListItems kept;
  Cursor in(items.bytes);
  for (std::uint32_t i = 0; i < items.count; ++i, ++number) {
    EnvelopeFrame record = take_record(in, kWhat);
    const std::span<const std::byte> taken = record.body.take(record.body.size(), kWhat);
    if (in.failed() || number >= keep.size() || taken.size() < offset + sizeof(std::uint32_t)) break;
    if (!keep[number]) continue;
    std::vector<std::byte> body(taken.begin(), taken.end());
    const auto field = load_little<std::uint32_t>(body.data() + offset);
    const auto now = field < fields.size() ? fields[field] : std::nullopt;
    if (!now) in.reject(kWhat);
    if (now) std::memcpy(body.data() + offset, &*now, sizeof *now);
    kept.add(body);
  }
  return in.finish(std::move(kept));
}

}  // namespace

Result<RemainingSchema> without_fields(const SchemaLists& header, const SchemaLists& extension,
                                       const SchemaRecords& schema, const std::set<std::string, std::less<>>& dropped) {
  const auto is_projected = [](const FieldRecord& field) { return field.projected_from.has_value(); };
  if (!schema.aliases.empty() || std::ranges::any_of(schema.fields, is_projected))
    return fail(ErrorKind::unsupported, "fields are not removed beside projected ones");
  std::vector<bool> keep(schema.fields.size());
  for (FieldId id = 0; id < schema.fields.size(); ++id) {  // parents first
    const FieldRecord& field = schema.fields[id];
    keep[id] = field.parent == id ? !dropped.contains(field.name) : keep[field.parent];
  }
  const Numbers fields = numbers_of(keep);
  RemainingSchema left;
  for (const ColumnRecord& column : schema.columns) left.keeps_column.push_back(keep[column.field]);
  left.header = header;
  left.extension = extension;
  std::size_t field = 0, column = 0;
  for (const auto& [from, to] : {std::pair{&header, &left.header}, std::pair{&extension, &left.extension}}) {
    TRY(to->fields, remaining(from->fields, kParentOffset, keep, fields, field));
    TRY(to->columns, remaining(from->columns, kFieldOffset, left.keeps_column, fields, column));
  }
  return left;
}

Result<SchemaLists> lists_of_header(std::span<const std::byte> header) {
  TRY(Envelope envelope, open_envelope(header, EnvelopeType::header));
  Cursor& in = envelope.payload;
  TRY_VOID(check_feature_flags(in));
  for (int text = 0; text < 3; ++text) take_text(in, kWhat);
  SchemaLists lists = take_schema_lists(in, kWhat);
  return in.finish(std::move(lists));
}

}  // namespace tfile
