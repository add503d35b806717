// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/ntuple_form.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "model/offered_nodes.h"
#include "ntuple/column_type.h"
#include "tfile/name.h"

// Groups columns into fields by their paths, as the mount shows fields (docs/semantics.md, "Writing"): `offsets.i8`
// makes a directory a list or a string, and a directory without it is a record. Types get ROOT's names where these
// follow from the columns, or are given with them. Any other record is untyped, and so is what consists of such.

namespace tfile {
namespace {

tl::unexpected<Error> invalid(const std::string& path, const std::string& reason) {
  return fail(ErrorKind::invalid, path + ": " + reason);
}

struct NumberType {
  std::string_view name;
  ColumnType plain, split;  // without compression, and with it
  std::uint16_t bits;
};

// In the order of Dtype.
constexpr std::array<NumberType, 11> kNumberTypes{{
    {"bool", ColumnType::bit, ColumnType::bit, 1},
    {"std::int8_t", ColumnType::int8, ColumnType::int8, 8},
    {"std::uint8_t", ColumnType::uint8, ColumnType::uint8, 8},
    {"std::int16_t", ColumnType::int16, ColumnType::split_int16, 16},
    {"std::uint16_t", ColumnType::uint16, ColumnType::split_uint16, 16},
    {"std::int32_t", ColumnType::int32, ColumnType::split_int32, 32},
    {"std::uint32_t", ColumnType::uint32, ColumnType::split_uint32, 32},
    {"std::int64_t", ColumnType::int64, ColumnType::split_int64, 64},
    {"std::uint64_t", ColumnType::uint64, ColumnType::split_uint64, 64},
    {"float", ColumnType::real32, ColumnType::split_real32, 32},
    {"double", ColumnType::real64, ColumnType::split_real64, 64},
}};
static_assert(static_cast<std::size_t>(Dtype::f8) + 1 == kNumberTypes.size());

// The column of numbers that are stored with fewer bits than they have. Split halves are in the specification, but ROOT
// does not know them.
ColumnRecord short_column(const FloatEncoding& encoding) {
  ColumnType type = ColumnType::real16;
  if (encoding.kind == FloatEncoding::Kind::truncated) type = ColumnType::real32_trunc;
  if (encoding.kind == FloatEncoding::Kind::quantized) type = ColumnType::real32_quant;
  ColumnRecord column;
  column.type = static_cast<std::uint16_t>(type);
  column.bits = encoding.bits;
  column.min = encoding.min;
  column.max = encoding.max;
  return column;
}

// The name that ROOT gives to the item of a list or array.
constexpr const char* kItemName = "_0";

// ROOT refuses these in the name of a field.
Result<> check_field_name(const std::string& path, const std::string& name) {
  const auto is_refused = [](char c) {
    return c == '.' || c == '/' || c == '\\' || c == ' ' || std::iscntrl(static_cast<unsigned char>(c)) != 0;
  };
  if (std::ranges::none_of(name, is_refused)) return {};
  return invalid(path, "an RNTuple takes no '.', '/', '\\', space or control character in a field's name");
}

// A field with all that is below it, as far as its columns were offered.
class FieldMaker {
 public:
  FieldMaker(std::span<const OfferedColumn> columns, bool compressed) : columns_(columns), compressed_(compressed) {
    for (const OfferedColumn& column : columns) classes_.insert(column.classes.begin(), column.classes.end());
  }

  Result<> make(const OfferedNode& top) {
    form_.name = field_name_of(top);
    return add(top, top.name, form_.name, 0, FieldForm::kEachEntry);
  }

  // Without `columns` and `encoded` if something is missing.
  FieldForm form() const {
    FieldForm form = form_;
    form.columns = form.encoded;
    form.kind = form.encoded.size() == 1 ? FieldForm::Kind::number : FieldForm::Kind::nested;
    for (const std::uint32_t i : form.columns) {
      if (form.title.empty()) form.title = columns_[i].title;
    }
    return form;
  }
  const std::string& incomplete() const { return incomplete_; }  // what is missing

  // Adds the records to the schema, and their numbers to those that are there.
  void add_to(SchemaRecords& schema, const std::string& title) const {
    const auto first = static_cast<FieldId>(schema.fields.size());
    for (FieldRecord field : fields_) {
      field.parent += first;
      schema.fields.push_back(std::move(field));
    }
    schema.fields[first].description = title;
    for (ColumnRecord column : table_columns_) {
      column.field += first;
      schema.columns.push_back(column);
    }
  }

 private:
  using Name = const std::string&;

  FieldId add_record(FieldRole role, FieldId parent, Name name) {
    FieldRecord& field = fields_.emplace_back();
    field.role = role;
    field.parent = parent;
    field.name = name;
    return static_cast<FieldId>(fields_.size() - 1);
  }
  void add_column(FieldId field, ColumnType type, std::uint16_t bits) {
    ColumnRecord& column = table_columns_.emplace_back();
    column.type = static_cast<std::uint16_t>(type);
    column.bits = bits;
    column.field = field;
  }
  void add_index(FieldId field) {
    constexpr std::uint16_t kIndexBits = 64;
    add_column(field, compressed_ ? ColumnType::split_index64 : ColumnType::index64, kIndexBits);
  }
  // Notes a column of the mount, within the lists of the column `list`; returns its place.
  std::uint32_t note(std::uint32_t column, std::uint32_t list) {
    form_.encoded.push_back(column);
    form_.lists.push_back(list);
    return static_cast<std::uint32_t>(form_.encoded.size() - 1);
  }

  Result<> add(const OfferedNode& node, const std::string& path, Name name, FieldId parent, std::uint32_t list) {
    TRY_VOID(check_field_name(path, name));
    if (node.column) return add_number(*node.column, name, parent, list);
    const OfferedNode* offsets = offsets_in(node, columns_);
    return offsets == nullptr ? add_members(node, path, name, parent, list)
                              : add_list(node, *offsets, path, name, parent, list);
  }

  // A number, or nested arrays of it.
  Result<> add_number(std::uint32_t column, Name name, FieldId parent, std::uint32_t list) {
    const OfferedColumn& offered = columns_[column];
    const NumberType& number = kNumberTypes[static_cast<std::size_t>(offered.dtype)];
    note(column, list);
    std::vector<std::string> types = {std::string(number.name)};
    for (std::size_t i = offered.shape.size(); i-- > 0;)
      types.push_back("std::array<" + types.back() + "," + std::to_string(offered.shape[i]) + ">");
    FieldId field = add_record(FieldRole::leaf, parent, name);
    fields_[field].type_name = types.back();
    for (std::size_t i = 0; i < offered.shape.size(); ++i) {
      fields_[field].array_size = offered.shape[i];
      field = add_record(FieldRole::leaf, field, kItemName);
      fields_[field].type_name = types[types.size() - 2 - i];
    }
    if (offered.dtype == Dtype::f4 && offered.encoding.kind != FloatEncoding::Kind::whole) {
      table_columns_.push_back(short_column(offered.encoding));
      table_columns_.back().field = field;
    } else {
      add_column(field, compressed_ ? number.split : number.plain, number.bits);
    }
    return {};
  }

  Result<> add_list(const OfferedNode& node, const OfferedNode& offsets, const std::string& path, Name name,
                    FieldId parent, std::uint32_t list) {
    if (node.children.size() == 1) return miss("offsets without values or chars");
    if (node.children.size() > 2) return invalid(path, "offsets and more than one column beside them");
    const OfferedNode& items = &node.children[0] == &offsets ? node.children[1] : node.children[0];
    const std::string items_path = path + "/" + items.name;
    const std::uint32_t place = note(*offsets.column, list);
    if (items.column && columns_[*items.column].role == Role::chars)
      return add_text(*items.column, name, parent, place);
    const auto streamed = classes_.find(path);
    if (items.column && columns_[*items.column].role == Role::raw && streamed != classes_.end())
      return add_streamed(*items.column, streamed->second, name, parent, place);
    const std::string stem = items.column ? field_name_of(items) : items.name;
    if (stem != "values") {
      return invalid(items_path, stem == "raw" ? "bytes that were not decoded are not written"
                                               : "a list's items are values, or chars.u1 of a text");
    }
    const FieldId field = add_record(FieldRole::collection, parent, name);
    add_index(field);
    const FieldId item = static_cast<FieldId>(fields_.size());
    TRY_VOID(add(items, items_path, kItemName, field, place));
    if (!incomplete_.empty()) return {};
    const std::string& type = fields_[item].type_name;
    if (!type.empty()) fields_[field].type_name = "std::vector<" + type + ">";
    return {};
  }

  Result<> add_text(std::uint32_t chars, Name name, FieldId parent, std::uint32_t list) {
    constexpr std::uint16_t kCharacterBits = 8;
    note(chars, list);
    const FieldId field = add_record(FieldRole::leaf, parent, name);
    fields_[field].type_name = "std::string";
    add_index(field);
    add_column(field, ColumnType::character, kCharacterBits);
    return {};
  }

  // Objects as the streamer of their class writes them.
  Result<> add_streamed(std::uint32_t bytes, Name class_name, Name name, FieldId parent, std::uint32_t list) {
    constexpr std::uint16_t kByteBits = 8;
    note(bytes, list);
    const FieldId field = add_record(FieldRole::streamer, parent, name);
    fields_[field].type_name = class_name;
    add_index(field);
    add_column(field, ColumnType::byte, kByteBits);
    return {};
  }

  Result<> add_members(const OfferedNode& node, const std::string& path, Name name, FieldId parent,
                       std::uint32_t list) {
    const auto has = [&](std::string_view child) {
      return std::ranges::count(node.children, child, &OfferedNode::name);
    };
    if (has("tags.i1") && has("index.i8")) return invalid(path, "variants are not written");
    if (node.children.size() == 1) {
      const std::string only = field_name_of(node.children[0]);
      if (only == "values" || node.children[0].name == "chars.u1") return miss(only + " without offsets");
    }
    const FieldId field = add_record(FieldRole::record, parent, name);
    if (const auto known = classes_.find(path); known != classes_.end()) fields_[field].type_name = known->second;
    std::set<std::string> names;
    for (const OfferedNode& child : node.children) {
      const std::string child_path = path + "/" + child.name;
      const std::string stem = field_name_of(child);
      if (!names.insert(stem).second) return invalid(child_path, "there are two members of that name");
      if (child.column) {
        const auto typed = parse_typed_name(child.name);
        TRY_VOID(check_offered_name(child_path, typed->stem, child.name.size() - typed->stem.size()));
      }
      TRY_VOID(add(child, child_path, stem, field, list));
      if (!incomplete_.empty()) return {};
    }
    return {};
  }

  Result<> miss(std::string what) {
    incomplete_ = std::move(what);
    return {};
  }

  const std::span<const OfferedColumn> columns_;
  const bool compressed_;
  std::map<std::string, std::string> classes_;  // of records, by path
  FieldForm form_;
  std::string incomplete_;
  std::vector<FieldRecord> fields_;  // the numbers of parents count from the first one
  std::vector<ColumnRecord> table_columns_;
};

}  // namespace

Result<OfferedForm> ntuple_form(std::span<const OfferedColumn> columns) {
  TRY(const std::vector<OfferedNode> tops, offered_nodes(columns));
  OfferedForm made;
  std::map<std::string, std::string> names;  // of fields, with the paths that have them
  for (const OfferedNode& top : tops) {
    FieldMaker maker(columns, true);
    TRY_VOID(maker.make(top));
    FieldForm form = maker.form();
    const auto [known, is_new] = names.emplace(form.name, top.name);
    if (!is_new) return invalid(top.name, "a field of that name is there already: " + known->second);
    if (maker.incomplete().empty()) {
      made.fields.push_back(std::move(form));
    } else {
      made.incomplete.push_back(top.name + ": " + maker.incomplete());
    }
  }
  return made;
}

Result<> add_to_schema(std::span<const OfferedColumn> columns, const OfferedForm& form, bool compressed,
                       SchemaRecords& schema) {
  TRY(const std::vector<OfferedNode> tops, offered_nodes(columns));
  std::map<std::string, const OfferedNode*> by_name;
  for (const OfferedNode& top : tops) by_name.emplace(field_name_of(top), &top);
  for (const FieldForm& field : form.fields) {
    FieldMaker maker(columns, compressed);
    TRY_VOID(maker.make(*by_name.at(field.name)));
    maker.add_to(schema, field.title);
  }
  return {};
}

}  // namespace tfile
