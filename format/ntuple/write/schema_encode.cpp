// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/schema_encode.h"

namespace tfile {
namespace {

constexpr std::uint64_t kNoFeatures = 0;
constexpr std::string_view kWriter = "tfilefs";

void append_lists(EnvelopeAppender& out, const SchemaLists& lists) {
  for (const ListItems* list : {&lists.fields, &lists.columns, &lists.aliases, &lists.type_information})
    out.list(list->count, list->bytes);
}

ListItems taken_list(Cursor& in, const char* what) {
  const EnvelopeFrame list = take_list(in, what);
  Cursor body = list.body;
  const std::span<const std::byte> bytes = body.take(body.size(), what);
  return {list.items, {bytes.begin(), bytes.end()}};
}

}  // namespace

SchemaLists take_schema_lists(Cursor& in, const char* what) {
  SchemaLists lists;
  for (ListItems* list : {&lists.fields, &lists.columns, &lists.aliases, &lists.type_information}) {
    if (in.left() > 0) *list = taken_list(in, what);
  }
  return lists;
}

void SchemaLists::add(const FieldRecord& field) {
  using namespace field_flag;
  EnvelopeAppender out;
  out.little(std::uint32_t{0});  // the version of the field itself
  out.little(field.type_version);
  out.little(field.parent);
  out.little(static_cast<std::uint16_t>(field.role));
  out.little(static_cast<std::uint16_t>((field.array_size ? kIsRepetitive : 0) |
                                        (field.projected_from ? kIsProjected : 0) |
                                        (field.type_checksum ? kHasChecksum : 0)));
  for (const std::string* text : {&field.name, &field.type_name, &field.type_alias, &field.description})
    out.text(*text);
  if (field.array_size) out.little(*field.array_size);
  if (field.projected_from) out.little(*field.projected_from);
  if (field.type_checksum) out.little(*field.type_checksum);
  fields.add(out.span());
}

void SchemaLists::add_streamer_infos(std::string_view infos) {
  EnvelopeAppender out;
  out.little(std::uint32_t{0});  // that they are StreamerInfos
  out.little(std::uint32_t{0});  // they are of no single type: its version and name
  out.text("");
  out.text(infos);
  type_information.add(out.span());
}

void SchemaLists::add(const ColumnRecord& column) {
  EnvelopeAppender out;
  out.little(column.type);
  out.little(column.bits);
  out.little(column.field);
  const bool has_range = column.min != column.max;
  out.little(has_range ? column_flag::kHasRange : std::uint16_t{0});  // none is deferred
  out.little(column.representation);
  if (has_range) {
    out.little(column.min);
    out.little(column.max);
  }
  columns.add(out.span());
}

void SchemaLists::add(const AliasRecord& alias) {
  EnvelopeAppender out;
  out.little(alias.column);
  out.little(alias.field);
  aliases.add(out.span());
}

std::vector<std::byte> encode_header(std::string_view name, std::string_view description, const SchemaLists& lists) {
  EnvelopeAppender out;
  out.little(kNoFeatures);
  for (const std::string_view text : {name, description, kWriter}) out.text(text);
  append_lists(out, lists);
  return closed_envelope(EnvelopeType::header, out.span());
}

std::vector<std::byte> encode_footer(std::uint64_t header_checksum, const SchemaLists& extension,
                                     std::span<const ClusterGroup> groups, std::span<const std::byte> tail) {
  EnvelopeAppender lists;
  append_lists(lists, extension);
  ListItems items;
  for (const ClusterGroup& group : groups) {
    EnvelopeAppender record;
    record.little(group.first_entry);
    record.little(group.entries);
    record.little(group.clusters);
    record.link(group.page_list.length, group.page_list.locator.range);
    items.add(record.span());
  }
  EnvelopeAppender out;
  out.little(kNoFeatures);
  out.little(header_checksum);
  out.record(lists.span());
  out.list(items.count, items.bytes);
  out.bytes(tail);
  return closed_envelope(EnvelopeType::footer, out.span());
}

Result<FooterPieces> take_apart(std::span<const std::byte> footer) {
  TRY(Envelope envelope, open_envelope(footer, EnvelopeType::footer));
  Cursor& in = envelope.payload;
  TRY_VOID(check_feature_flags(in));
  in.skip(sizeof(std::uint64_t), "RNTuple footer");  // the header's checksum
  EnvelopeFrame extension = take_record(in, "RNTuple schema extension");
  FooterPieces pieces;
  pieces.extension = take_schema_lists(extension.body, "RNTuple schema extension");
  if (extension.body.failed()) in.reject("RNTuple schema extension");
  take_list(in, "RNTuple cluster groups");
  const std::span<const std::byte> tail = in.take(in.left(), "RNTuple footer");
  pieces.tail.assign(tail.begin(), tail.end());
  return in.finish(std::move(pieces));
}

}  // namespace tfile
