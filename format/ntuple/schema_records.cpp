// SPDX-License-Identifier: Apache-2.0
#include "ntuple/schema_records.h"

#include <string_view>
#include <utility>

namespace tfile {
namespace {

constexpr std::uint32_t kStreamerInfos = 0;

FieldRecord read_field(Cursor& in) {
  using namespace field_flag;
  constexpr const char* kWhat = "RNTuple field";
  FieldRecord field;
  in.skip(4, kWhat);  // the version of the field itself
  field.type_version = in.little<std::uint32_t>(kWhat);
  field.parent = in.little<std::uint32_t>(kWhat);
  field.role = static_cast<FieldRole>(in.little<std::uint16_t>(kWhat));
  const auto flags = in.little<std::uint16_t>(kWhat);
  for (std::string* text : {&field.name, &field.type_name, &field.type_alias, &field.description})
    *text = take_text(in, kWhat);
  if (flags & kIsRepetitive) field.array_size = in.little<std::uint64_t>(kWhat);
  if (flags & kIsProjected) field.projected_from = in.little<std::uint32_t>(kWhat);
  if (flags & kHasChecksum) field.type_checksum = in.little<std::uint32_t>(kWhat);
  field.is_soa = flags & kIsSoa;
  return field;
}

ColumnRecord read_column(Cursor& in) {
  using namespace column_flag;
  constexpr const char* kWhat = "RNTuple column";
  ColumnRecord column;
  column.type = in.little<std::uint16_t>(kWhat);
  column.bits = in.little<std::uint16_t>(kWhat);
  column.field = in.little<std::uint32_t>(kWhat);
  const auto flags = in.little<std::uint16_t>(kWhat);
  column.representation = in.little<std::uint16_t>(kWhat);
  if (flags & kIsDeferred) column.first_element = in.little<std::int64_t>(kWhat);
  if (flags & kHasRange) {
    column.min = in.little<double>(kWhat);
    column.max = in.little<double>(kWhat);
  }
  return column;
}

AliasRecord read_alias(Cursor& in) {
  AliasRecord alias;
  alias.column = in.little<std::uint32_t>("RNTuple alias column");
  alias.field = in.little<std::uint32_t>("RNTuple alias column");
  return alias;
}

void read_type_information(Cursor& in, std::string& streamer_infos) {
  constexpr const char* kWhat = "RNTuple type information";
  const auto content = in.little<std::uint32_t>(kWhat);
  in.skip(4, kWhat);  // version
  take_text(in, kWhat);
  const std::string_view text = take_text(in, kWhat);
  // If a footer repeats the header's infos, the last text has the most classes.
  if (content == kStreamerInfos && !in.failed()) streamer_infos = text;
}

// Calls `read` with the body of each record in a list.
template <class Read>
void read_list(Cursor& in, const char* what, Read read) {
  EnvelopeFrame list = take_list(in, what);
  for (std::uint32_t i = 0; i < list.items && !list.body.failed(); ++i) {
    EnvelopeFrame record = take_record(list.body, what);
    read(record.body);
    if (record.body.failed()) list.body.reject(what);
  }
  if (list.body.failed()) in.reject(what);
}

// Reads the four lists of a header, or of a footer's extension.
void read_schema(Cursor& in, SchemaRecords& schema) {
  read_list(in, "RNTuple fields", [&](Cursor& body) { schema.fields.push_back(read_field(body)); });
  read_list(in, "RNTuple columns", [&](Cursor& body) { schema.columns.push_back(read_column(body)); });
  read_list(in, "RNTuple alias columns", [&](Cursor& body) { schema.aliases.push_back(read_alias(body)); });
  read_list(in, "RNTuple type information", [&](Cursor& body) { read_type_information(body, schema.streamer_infos); });
}

ClusterGroup read_group(Cursor& in) {
  constexpr const char* kWhat = "RNTuple cluster group";
  ClusterGroup group;
  group.first_entry = in.little<std::uint64_t>(kWhat);
  group.entries = in.little<std::uint64_t>(kWhat);
  group.clusters = in.little<std::uint32_t>(kWhat);
  group.page_list = take_link(in, kWhat);
  return group;
}

AttributeSet read_attribute_set(Cursor& in) {
  constexpr const char* kWhat = "RNTuple attribute set";
  AttributeSet set;
  set.schema_major = in.little<std::uint16_t>(kWhat);
  set.schema_minor = in.little<std::uint16_t>(kWhat);
  set.anchor_length = in.little<std::uint32_t>(kWhat);
  set.anchor = take_locator(in, kWhat);
  set.name = take_text(in, kWhat);
  return set;
}

Result<> check_schema(const SchemaRecords& schema) {
  const std::size_t fields = schema.fields.size();
  for (std::size_t id = 0; id < fields; ++id) {
    const FieldRecord& field = schema.fields[id];
    // A parent must come before its children, so that following parents ends.
    if (field.parent > id)
      return fail(ErrorKind::damaged, "RNTuple field " + std::to_string(id) + " has parent " +
                                          std::to_string(field.parent) + ", expected one before it");
    if (field.projected_from && *field.projected_from >= fields)
      return fail(ErrorKind::damaged, "RNTuple field " + field.name + " projects field " +
                                          std::to_string(*field.projected_from) + " of " + std::to_string(fields));
  }
  for (const ColumnRecord& column : schema.columns)
    if (column.field >= fields)
      return fail(ErrorKind::damaged,
                  "RNTuple column belongs to field " + std::to_string(column.field) + " of " + std::to_string(fields));
  for (const AliasRecord& alias : schema.aliases)
    if (alias.field >= fields || alias.column >= schema.columns.size())
      return fail(ErrorKind::damaged, "RNTuple alias column of field " + std::to_string(alias.field) + " of " +
                                          std::to_string(fields) + " projects column " + std::to_string(alias.column) +
                                          " of " + std::to_string(schema.columns.size()));
  return {};
}

}  // namespace

Result<HeaderRecords> read_header_envelope(std::span<const std::byte> bytes, SchemaRecords& schema) {
  TRY(Envelope envelope, open_envelope(bytes, EnvelopeType::header));
  Cursor& in = envelope.payload;
  TRY_VOID(check_feature_flags(in));
  HeaderRecords header;
  header.checksum = envelope.checksum;
  for (std::string* text : {&header.name, &header.description, &header.writer}) *text = take_text(in, "RNTuple header");
  read_schema(in, schema);
  return in.finish(std::move(header));
}

Result<FooterRecords> read_footer_envelope(std::span<const std::byte> bytes, std::uint64_t header_checksum,
                                           SchemaRecords& schema) {
  TRY(Envelope envelope, open_envelope(bytes, EnvelopeType::footer));
  Cursor& in = envelope.payload;
  TRY_VOID(check_feature_flags(in));
  const auto told = in.little<std::uint64_t>("RNTuple footer");
  if (told != header_checksum && !in.failed()) return of_another_header("footer", told, header_checksum);
  EnvelopeFrame extension = take_record(in, "RNTuple schema extension");
  if (extension.body.left() > 0) read_schema(extension.body, schema);
  if (extension.body.failed()) in.reject("RNTuple schema extension");
  FooterRecords footer;
  read_list(in, "RNTuple cluster groups", [&](Cursor& body) { footer.groups.push_back(read_group(body)); });
  // Since version 1.0.1.0.
  if (in.left() > 0)
    read_list(in, "RNTuple attribute sets",
              [&](Cursor& body) { footer.attribute_sets.push_back(read_attribute_set(body)); });
  TRY_VOID(in.finish());
  TRY_VOID(check_schema(schema));
  return footer;
}

}  // namespace tfile
