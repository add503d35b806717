// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "json/json_text.h"
#include "view/column_lengths.h"
#include "view/table_form.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::Column;
using tfile::ColumnId;
using tfile::Dtype;
using Kind = TableForm::Kind;

std::string_view primitive(Dtype dtype) {
  switch (dtype) {
    case Dtype::b1:
      return "bool";
    case Dtype::i1:
      return "int8";
    case Dtype::u1:
      return "uint8";
    case Dtype::i2:
      return "int16";
    case Dtype::u2:
      return "uint16";
    case Dtype::i4:
      return "int32";
    case Dtype::u4:
      return "uint32";
    case Dtype::i8:
      return "int64";
    case Dtype::u8:
      return "uint64";
    case Dtype::f4:
      return "float32";
    case Dtype::f8:
      return "float64";
  }
  return "uint8";
}

// The parameters of the list and of its characters.
struct TextParameters {
  std::string_view list, character;
};
TextParameters text_parameters(Kind kind) {
  if (kind == Kind::string) return {R"({"__array__": "string"})", R"({"__array__": "char"})"};
  return {R"({"__array__": "bytestring"})", R"({"__array__": "byte"})"};
}

class Writer {
 public:
  Writer(const tfile::Table& table, const ColumnLengths& lengths) : table_(table), lengths_(lengths) {}

  std::string write() {
    const std::int64_t entries = std::max<std::int64_t>(0, table_.entries);
    text_ = "{\"tfilefs\": 1, \"length\": " + std::to_string(entries) + ", \"form\":\n";
    TableForm form = table_form(table_);
    add_record(form, entries);
    text_ += ",\n\"files\": [";
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (i > 0) text_ += ", ";
      append_json_string(text_, table_.columns[files_[i]].path);
    }
    return std::move(text_) + "]}\n";
  }

 private:
  // A field that is known to be shorter than the record is left out: Awkward Array has nothing to stand for its end.
  void add_record(const TableForm& form, std::optional<std::int64_t> length) {
    if (!length) length = own_length(form, lengths_);
    std::vector<const TableForm*> fields;
    for (const TableForm& field : form.fields) {
      const auto own = own_length(field, lengths_);
      if (!own || !length || *own >= *length) fields.push_back(&field);
    }
    text_ += R"({"class": "RecordArray", "fields": [)";
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text_ += ", ";
      append_json_string(text_, fields[i]->name);
    }
    text_ += "], \"contents\": [";
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text_ += i > 0 ? ",\n" : "\n";
      add(*fields[i]);
    }
    text_ += "]}";
  }

  void add(const TableForm& form) {
    switch (form.kind) {
      case Kind::record:
        return add_record(form, std::nullopt);
      case Kind::number:
        return add_numbers(form.values, "");
      case Kind::string:
      case Kind::bytes:
        begin_list(form.offsets, text_parameters(form.kind).list);
        add_numbers(form.values, text_parameters(form.kind).character);
        break;
      case Kind::list:
        begin_list(form.offsets, form.optional ? R"({"optional": true})" : "");
        add(form.fields[0]);
    }
    text_ += '}';
  }

  void begin_list(ColumnId offsets, std::string_view parameters) {
    text_ += R"({"class": "ListOffsetArray", "offsets": "i64", )";
    add_key(offsets, parameters);
    text_ += R"(, "content": )";
  }

  void add_numbers(ColumnId id, std::string_view parameters) {
    const Column& column = table_.columns[id];
    // Not as the inner shape of the numbers: inside a list that is not read yet, Awkward Array refuses one.
    for (const std::uint32_t extent : column.shape)
      text_ += R"({"class": "RegularArray", "size": )" + std::to_string(extent) + R"(, "content": )";
    text_ += R"({"class": "NumpyArray", "primitive": ")";
    text_ += primitive(column.dtype);
    text_ += R"(", )";
    add_key(id, parameters);
    text_.append(column.shape.size() + 1, '}');
  }

  void add_key(ColumnId id, std::string_view parameters) {
    if (!parameters.empty()) {
      text_ += "\"parameters\": ";
      text_ += parameters;
      text_ += ", ";
    }
    text_ += "\"form_key\": ";
    append_json_string(text_, table_.columns[id].path);
    files_.push_back(id);
  }

  const tfile::Table& table_;
  const ColumnLengths& lengths_;
  std::string text_;
  std::vector<ColumnId> files_;
};

}  // namespace

void awkward_text(std::shared_ptr<CachedStreams> streams, std::shared_ptr<const tfile::Table> table,
                  Reply<std::string> reply) {
  column_lengths(streams, table, false, [table, reply = std::move(reply)](Result<ColumnLengths> lengths) mutable {
    if (!lengths) return reply(tl::unexpected<Error>(lengths.error()));
    reply(Writer(*table, *lengths).write());
  });
}

}  // namespace tfilefs
