// SPDX-License-Identifier: Apache-2.0
#include "view/schema.h"

#include "on_behalf.h"
#include "view/column_lengths.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

// More than most columns take: the xAOD file with 13,900 columns and long names has 690 of each.
constexpr std::size_t kColumnBytes = 1 << 10;

void write_reason(JsonWriter& json, std::string_view reason) {
  json.key("reason");
  if (reason.empty())
    json.null();
  else
    json.text(reason);
}

void write_column(JsonWriter& json, const tfile::Table& table, const tfile::Column& column,
                  std::optional<std::int64_t> length) {
  json.begin_object().member("path", column.path).member("branch", column.branch);
  json.key("field").begin_array();
  for (const std::string& name : column.field) json.text(name);
  json.end_array().member("dtype", tfile::numpy_dtype(column.dtype));
  json.key("shape").begin_array();
  for (const std::uint32_t extent : column.shape) json.number(extent);
  json.end_array().key("lists").begin_array();
  for (const tfile::ColumnId id : column.lists) json.text(table.columns[id].path);
  json.end_array().member("role", tfile::role_name(column.role));
  if (column.optional) json.key("optional").flag(true);
  json.member_or_null("length", length);
  json.member_or_null("size", length ? std::optional(*length * static_cast<std::int64_t>(column.item_size())) : length);
  json.member("title", column.title).member("class", column.class_name).member("compression", column.compression);
  write_reason(json, column.reason);
  json.end_object();
}

}  // namespace

void write_friends(JsonWriter& json, const std::vector<tfile::FriendName>& friends) {
  if (friends.empty()) return;
  json.key("friends").begin_array();
  for (const tfile::FriendName& each : friends)
    json.begin_object().member("alias", each.alias).member("table", each.table).member("file", each.file).end_object();
  json.end_array();
}

std::string schema_text(const tfile::Table& table, const ColumnLengths& lengths, const CachedStreams::Files* files,
                        const std::vector<std::string>& chosen_by) {
  JsonWriter json;
  json.reserve(table.columns.size() * kColumnBytes);
  json.begin_object().member("tfilefs", 1);
  json.member("name", table.name).member("title", table.title).member("kind", table.kind);
  json.member("entries", table.entries);
  json.key("clusters").begin_array();
  for (const std::int64_t entry : table.clusters) json.number(entry);
  json.end_array();
  write_reason(json, table.reason);
  if (!chosen_by.empty()) {
    json.key("where").begin_array();
    for (const std::string& expression : chosen_by) json.text(expression);
    json.end_array();
  }
  if (files) json.key("files").raw(files->json);
  write_friends(json, table.friends);
  json.key("columns").begin_array();
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    json.line(2);
    write_column(json, table, table.columns[i], lengths[i]);
  }
  if (!table.columns.empty()) json.line();
  return json.end_array().end_object().take() + "\n";
}

}  // namespace tfilefs
