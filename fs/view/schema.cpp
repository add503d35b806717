// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "json/json_text.h"
#include "view/column_lengths.h"
#include "view/view.h"

namespace tfilefs {
namespace {

void append_number(std::string& to, std::int64_t value) {
  char digits[24];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_pair(std::string& to, std::string_view name, std::string_view text) {
  to += '"';
  to += name;
  to += "\": ";
  append_json_string(to, text);
  to += ", ";
}

template <class Items, class Append>
void append_list(std::string& to, std::string_view name, const Items& items, Append append) {
  to += '"';
  to += name;
  to += "\": [";
  bool first = true;
  for (const auto& item : items) {
    if (!std::exchange(first, false)) to += ", ";
    append(item);
  }
  to += "], ";
}

void append_or_null(std::string& to, std::string_view name, std::optional<std::int64_t> value) {
  to += '"';
  to += name;
  to += "\": ";
  if (value)
    append_number(to, *value);
  else
    to += "null";
  to += ", ";
}

void append_reason(std::string& to, std::string_view reason) {
  to += "\"reason\": ";
  if (reason.empty())
    to += "null";
  else
    append_json_string(to, reason);
}

void append_column(std::string& to, const tfile::Table& table, const tfile::Column& column,
                   std::optional<std::int64_t> length) {
  to += "  {";
  append_pair(to, "path", column.path);
  append_pair(to, "branch", column.branch);
  append_list(to, "field", column.field, [&](const std::string& name) { append_json_string(to, name); });
  append_pair(to, "dtype", tfile::numpy_dtype(column.dtype));
  append_list(to, "shape", column.shape, [&](std::uint32_t n) { append_number(to, n); });
  append_list(to, "lists", column.lists, [&](tfile::ColumnId id) { append_json_string(to, table.columns[id].path); });
  append_pair(to, "role", tfile::role_name(column.role));
  if (column.optional) to += "\"optional\": true, ";
  append_or_null(to, "length", length);
  append_or_null(to, "size", length ? std::optional(*length * static_cast<std::int64_t>(column.item_size())) : length);
  append_pair(to, "title", column.title);
  append_pair(to, "class", column.class_name);
  append_pair(to, "compression", column.compression);
  append_reason(to, column.reason);
  to += '}';
}

std::string schema_of(const tfile::Table& table, const ColumnLengths& lengths) {
  std::string text = "{\"tfilefs\": 1, ";
  append_pair(text, "name", table.name);
  append_pair(text, "title", table.title);
  append_pair(text, "kind", table.kind);
  append_or_null(text, "entries", table.entries);
  append_list(text, "clusters", table.clusters, [&](std::int64_t entry) { append_number(text, entry); });
  append_reason(text, table.reason);
  text += ", \"columns\": [";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += i ? ",\n" : "\n";
    append_column(text, table, table.columns[i], lengths[i]);
  }
  return text += table.columns.empty() ? "]}\n" : "\n]}\n";
}

}  // namespace

void schema_text(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                 Reply<std::string> reply) {
  column_lengths(streams, table, false, [table, reply = std::move(reply)](Result<ColumnLengths> lengths) mutable {
    if (!lengths) return reply(tl::unexpected<Error>(lengths.error()));
    reply(schema_of(*table, *lengths));
  });
}

}  // namespace tfilefs
