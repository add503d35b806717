// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "tfile/json_writer.h"
#include "view/column_lengths.h"
#include "view/table_form.h"
#include "view/view.h"

namespace tfilefs {
namespace {

using tfile::JsonWriter;

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

// The parameter that says what a list of characters, or one of them, is.
std::string_view text_parameter(Kind kind) { return kind == Kind::string ? "string" : "bytestring"; }
std::string_view character_parameter(Kind kind) { return kind == Kind::string ? "char" : "byte"; }

// The path of a node's directory, which comes before the names of its files.
std::string directory_of(const Column& column) {
  return column.path.substr(0, column.path.size() - column.name.size());
}

// More than most columns take, in the form and as a file of a key.
constexpr std::size_t kFormBytes = 512, kKeyBytes = 256;

// Each node has a number, from which Awkward Array makes the default key of each of its buffers.
class Writer {
 public:
  Writer(const tfile::Table& table, const ColumnLengths& lengths) : table_(table), lengths_(lengths) {}

  std::string write();

 private:
  // A field that is known to be shorter than the record is left out: Awkward Array cannot express the missing end.
  void add_record(const TableForm& form, std::optional<std::int64_t> length, std::string_view name);

  // `name`: the class, of what is one; of numbers and texts only where it must tell them from others.
  void add(const TableForm& form, std::string_view name = {});

  // Awkward Array has no options of unions: these stay lists.
  static bool is_option(const TableForm& form);
  // One for all options that are directly nested, since their index covers them all.
  void add_option(const TableForm& form, std::string_view name);

  // Tag 0 is null, then come the classes. Awkward Array requires that all contents may be null, or none; and that none
  // can be merged with another: numbers with numbers, records of equal members, anything with EmptyArray. The names of
  // their classes, as parameters that it compares, keep them apart. Null is a number, since numpy's functions work on
  // unions of these, and has no value of it: any file can be its buffer.
  void add_variant(const TableForm& form);

  static const TableForm& value_of(const TableForm& form) { return is_option(form) ? value_of(form.fields[0]) : form; }
  // 1: numbers, 2: texts, 0: anything else. These take no name where no other alternative is of the same kind.
  static int plain_kind(const TableForm& form);
  static bool is_plain_alone(const TableForm& variant, const TableForm* shown);

  void begin(std::string_view kind) { json_.begin_object().member("class", kind); }

  void begin_list(ColumnId offsets, std::string_view parameters);
  void begin_option(const std::string& directory);
  void add_numbers(ColumnId id, std::string_view parameters);

  // `list`: the name of a class of lists; "": none.
  static std::string name_parameter(std::string_view key, std::string_view name, std::string_view list = {});
  void add_parameters(std::string_view parameters);

  struct Buffer {
    std::string_view attribute;
    std::string_view file;
  };
  void add_keys(std::initializer_list<Buffer> buffers);

  const Column& column(ColumnId id) const { return table_.columns[id]; }

  const tfile::Table& table_;
  const ColumnLengths& lengths_;
  JsonWriter json_, files_;
  std::size_t nodes_ = 0;  // those that have buffers
};

std::string Writer::write() {
  const std::int64_t entries = std::max<std::int64_t>(0, table_.entries);
  files_.reserve(table_.columns.size() * kKeyBytes).begin_object();
  json_.reserve(table_.columns.size() * (kKeyBytes + kFormBytes));
  json_.begin_object().member("tfilefs", 1).member("length", entries).key("form").line();
  add_record(table_form(table_), entries, "");
  json_.line().key("files").raw(files_.end_object().take());
  return json_.end_object().take() + "\n";
}

void Writer::add_record(const TableForm& form, std::optional<std::int64_t> length, std::string_view name) {
  if (!length) length = own_length(form, lengths_);
  std::vector<const TableForm*> fields;
  for (const TableForm& field : form.fields) {
    const auto own = own_length(field, lengths_);
    if (!own || !length || *own >= *length) fields.push_back(&field);
  }
  begin("RecordArray");
  if (!name.empty()) add_parameters(name_parameter("__record__", name));
  json_.key("fields").begin_array();
  for (const TableForm* field : fields) json_.text(field->name);
  json_.end_array().key("contents").begin_array();
  for (const TableForm* field : fields) {
    json_.line();
    add(*field);
  }
  json_.end_array().end_object();
}

void Writer::add(const TableForm& form, std::string_view name) {
  switch (form.kind) {
    case Kind::record:
      return add_record(form, std::nullopt, name);
    case Kind::variant:
      return add_variant(form);
    case Kind::number:
      // Not "char" or "byte", by which Awkward Array means parts of texts.
      return add_numbers(form.values, name.empty() ? "" : name_parameter("__array__", "type " + std::string(name)));
    case Kind::string:
    case Kind::bytes:
      begin_list(form.offsets, name_parameter("__array__", text_parameter(form.kind), name));
      add_numbers(form.values, name_parameter("__array__", character_parameter(form.kind)));
      break;
    case Kind::list:
      if (is_option(form)) return add_option(form, name);
      begin_list(form.offsets, name.empty() ? "" : name_parameter("__list__", name));
      add(form.fields[0]);
  }
  json_.end_object();
}

bool Writer::is_option(const TableForm& form) {
  return form.optional && form.fields[0].kind != Kind::variant &&
         (!form.fields[0].optional || is_option(form.fields[0]));
}

void Writer::add_option(const TableForm& form, std::string_view name) {
  const TableForm* value = &form.fields[0];
  while (value->optional) value = &value->fields[0];
  begin_option(directory_of(column(form.offsets)));
  add(*value, name);
  json_.end_object();
}

void Writer::add_variant(const TableForm& form) {
  const Column& tags = column(form.fields[0].values);
  begin("UnionArray");
  json_.member("tags", "i8").member("index", "i64");
  add_keys({{"tags", tags.path}, {"index", column(form.fields[1].values).path}});
  json_.key("contents").begin_array().line();
  begin_option(directory_of(tags));
  begin("NumpyArray");
  json_.member("primitive", primitive(tags.dtype));
  add_parameters(name_parameter("__array__", "nullptr"));
  add_keys({{"data", tags.path}});
  json_.end_object().end_object();
  TableForm nothing;
  nothing.kind = Kind::record;
  for (std::size_t tag = 1; tag <= form.classes.size(); ++tag) {
    json_.line();
    const TableForm* shown = alternative(form, tag);
    const std::string_view name = is_plain_alone(form, shown) ? "" : std::string_view(form.classes[tag - 1]);
    if (shown && is_option(*shown)) {
      add_option(*shown, name);
      continue;
    }
    begin("UnmaskedArray");
    json_.key("content");
    if (shown && shown->kind == Kind::variant)
      add_record(*shown, std::nullopt, name);  // Awkward Array accepts no union directly in a union
    else if (shown)
      add(*shown, name);
    else
      add_record(nothing, std::nullopt, name);
    json_.end_object();
  }
  json_.end_array().end_object();
}

int Writer::plain_kind(const TableForm& form) {
  const Kind kind = value_of(form).kind;
  return kind == Kind::number ? 1 : kind == Kind::string || kind == Kind::bytes ? 2 : 0;
}

bool Writer::is_plain_alone(const TableForm& variant, const TableForm* shown) {
  const int kind = shown ? plain_kind(*shown) : 0;
  std::size_t count = 0;
  for (std::size_t tag = 1; tag <= variant.classes.size(); ++tag) {
    const TableForm* other = alternative(variant, tag);
    if (other && plain_kind(*other) == kind) ++count;
  }
  return kind != 0 && count == 1;
}

void Writer::begin_list(ColumnId offsets, std::string_view parameters) {
  begin("ListOffsetArray");
  json_.member("offsets", "i64");
  add_parameters(parameters);
  add_keys({{"offsets", column(offsets).path}});
  json_.key("content");
}

void Writer::begin_option(const std::string& directory) {
  begin("IndexedOptionArray");
  json_.member("index", "i64");
  add_keys({{"index", directory + ".option"}});
  json_.key("content");
}

void Writer::add_numbers(ColumnId id, std::string_view parameters) {
  // Not as the inner shape of the numbers, which Awkward Array refuses inside a list that is not read yet.
  for (const std::uint32_t extent : column(id).shape) {
    begin("RegularArray");
    json_.member("size", extent).key("content");
  }
  begin("NumpyArray");
  json_.member("primitive", primitive(column(id).dtype));
  add_parameters(parameters);
  add_keys({{"data", column(id).path}});
  for (std::size_t i = 0; i <= column(id).shape.size(); ++i) json_.end_object();
}

std::string Writer::name_parameter(std::string_view key, std::string_view name, std::string_view list) {
  JsonWriter json;
  json.begin_object().member(key, name);
  if (!list.empty()) json.member("__list__", list);
  return json.end_object().take();
}

void Writer::add_parameters(std::string_view parameters) {
  if (!parameters.empty()) json_.key("parameters").raw(parameters);
}

void Writer::add_keys(std::initializer_list<Buffer> buffers) {
  const std::string number = std::to_string(nodes_++);
  json_.member("form_key", number);
  for (const Buffer& buffer : buffers) files_.member(number + '-' + std::string(buffer.attribute), buffer.file);
}

}  // namespace

std::string awkward_text(const tfile::Table& table, const ColumnLengths& lengths) {
  return Writer(table, lengths).write();
}

}  // namespace tfilefs
