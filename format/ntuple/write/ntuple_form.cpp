// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/ntuple_form.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "model/input_nodes.h"
#include "ntuple/column_type.h"
#include "ntuple/field_nodes.h"
#include "ntuple/write/length_field.h"
#include "ntuple/write/stored_columns.h"
#include "ntuple/write/type_arguments.h"
#include "tfile/name.h"
#include "tfile/node_columns.h"
#include "tfile/variant_type.h"

// Groups columns into fields by their paths, as the mount shows fields (docs/semantics/writing.md, "Writing"):
// `offsets.i8` makes a directory a list or a string, one with `tags.i1` and `index.i8` is a variant, and any other a
// record. Types get ROOT's names where these follow from the columns, or are given with them: the type of a variant
// gives those of its alternatives. Any other record is untyped, and so is what consists of such.

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

// The name that ROOT gives to the item of a list or array; with other numbers also to alternatives, and to the parts of
// pairs and tuples.
constexpr const char *kItemName = "_0", *kItemPrefix = "_";

// The parts of pairs in a mount, and of those that are the items of maps.
constexpr std::string_view kPairNames[] = {"first", "second"}, kMapNames[] = {"key", "value"};

// ROOT refuses these in the name of a field.
Result<> check_field_name(const std::string& path, const std::string& name) {
  const auto is_refused = [](char c) {
    return c == '.' || c == '/' || c == '\\' || c == ' ' || std::iscntrl(static_cast<unsigned char>(c)) != 0;
  };
  if (std::ranges::none_of(name, is_refused)) return {};
  return invalid(path, "an RNTuple allows no '.', '/', '\\', space or control character in a field's name");
}

const OfferedNode* child_of(const OfferedNode& node, std::string_view name) {
  const auto found = std::ranges::find(node.children, name, &OfferedNode::name);
  return found == node.children.end() ? nullptr : &*found;
}

std::string suffix_of(const OfferedNode& node) {
  const auto typed = node.column ? parse_typed_name(node.name) : std::nullopt;
  return typed ? node.name.substr(typed->stem.size()) : "";
}

// The nodes of the alternatives of these types, under the names that a mount gives them; null where there is none.
std::vector<const OfferedNode*> alternatives_in(const OfferedNode& variant, const std::vector<std::string>& types) {
  std::vector<std::string_view> names = {"tags", "index"};
  std::vector<std::string> suffixes = {".i1", ".i8"};
  for (const std::string& type : types) {
    names.push_back(type);
    std::string& suffix = suffixes.emplace_back();
    for (const OfferedNode& child : variant.children) {
      const std::string its = suffix_of(child);
      if (child.name == escape_name(type, kNameMax - std::min(its.size(), kNameMax)) + its) suffix = its;
    }
  }
  const std::vector<std::string> shown = directory_names(names, suffixes);
  std::vector<const OfferedNode*> found;
  for (std::size_t i = 2; i < shown.size(); ++i) found.push_back(child_of(variant, shown[i]));
  return found;
}

// A member of a record, with ROOT's name and, where the type of the record tells it, its type.
struct Member {
  const OfferedNode* node = nullptr;
  std::string name, type = {};
};

// Those of pairs and tuples have numbers in the file, and come in their order.
std::vector<Member> members_of(const OfferedNode& record, const std::string& type) {
  const bool is_pair = template_name(type) == "std::pair", is_tuple = template_name(type) == "std::tuple";
  const auto types = is_pair || is_tuple ? template_arguments(type) : std::nullopt;
  std::vector<Member> members;
  if (types && types->size() == record.children.size()) {
    for (std::size_t i = 0; i < types->size(); ++i) {
      const std::string name = kItemPrefix + std::to_string(i);
      for (const OfferedNode& child : record.children) {
        const std::string stem = field_name_of(child);
        const bool is_in_pair = is_pair && (stem == kPairNames[i] || stem == kMapNames[i]);
        if (is_in_pair || stem == name) members.push_back({&child, name, (*types)[i]});
      }
    }
  }
  if (members.size() == record.children.size()) return members;
  members.clear();
  for (const OfferedNode& child : record.children) members.push_back({&child, field_name_of(child)});
  return members;
}

// A field with all that is below it, as far as its columns were offered.
class FieldMaker {
 public:
  FieldMaker(std::span<const InputColumn> columns, bool compressed, std::vector<NotHeld>* not_held = nullptr);
  Result<> make(const OfferedNode& top);

  // Without `columns` and `encoded` if something is missing.
  FieldForm form() const;
  const std::string& incomplete() const { return incomplete_; }  // what is missing

  // Adds the records to the schema, and their numbers to those that are there.
  void add_to(SchemaRecords& schema, const std::string& title) const;

 private:
  using Name = const std::string&;

  // The surroundings for which a field is made.
  struct Around {
    FieldId parent = 0;
    std::uint32_t list = FieldForm::kEachEntry;  // what contains its items
    std::uint8_t tag = 0;                        // of an alternative
    std::string type = {};                       // the name of its type, where that is known
  };

  FieldId add_record(FieldRole role, const Around& around, Name name, std::string type);
  void add_column(FieldId field, ColumnType type, std::uint16_t bits);
  void add_index(FieldId field);
  // Notes a column of the mount; returns its place.
  std::uint32_t note(std::uint32_t column, const Around& around, std::size_t alternatives = 0);
  Result<> add(const OfferedNode& node, const std::string& path, Name name, const Around& around);
  static tl::unexpected<Error> of_another_type(const std::string& path, const std::string& type);

  // A number, or nested arrays of it.
  Result<> add_number(std::uint32_t column, Name name, const Around& around);

  // The types of nested arrays, and of their items. `type`: of all of it, if that is known.
  static Result<std::vector<std::string>> types_of(const InputColumn& offered, const std::string& type);
  Result<> add_bits(const InputColumn& offered, Name name, const Around& around);

  // The column of a number. Enums and atomics have it in a field of their own.
  Result<> add_element(const InputColumn& offered, FieldId field);
  void add_numbers(const InputColumn& offered, FieldId field, std::string_view type);
  Result<> add_list(const OfferedNode& node, const OfferedNode& offsets, const std::string& path, Name name,
                    const Around& around);

  // The type of the items of such lists, if it is known.
  static Result<std::string> item_type_of(const std::string& path, const std::string& type);
  Result<> add_text(std::uint32_t chars, std::uint32_t list, const std::string& path, Name name, const Around& around);

  // Objects as the streamer of their class writes them.
  Result<> add_streamed(std::uint32_t bytes, std::uint32_t list, Name class_name, Name name, const Around& around);

  struct VariantColumns {
    std::uint32_t tags, index;
  };
  Result<> add_variant(const OfferedNode& node, VariantColumns columns, const std::string& path, Name name,
                       const Around& around);
  Result<> add_members(const OfferedNode& node, const std::string& path, Name name, const Around& around);
  Result<> add_member(const Member& member, const std::string& path, const Around& around);

  // How much was made.
  struct Made {
    std::size_t fields, columns, noted, not_held;
  };
  void take_back(const Made& before);
  Result<> miss(std::string what);

  const std::span<const InputColumn> columns_;
  const bool compressed_;
  std::vector<NotHeld>* const not_held_;        // null: a member that is not held is an error
  std::map<std::string, std::string> classes_;  // of records and variants, by path
  FieldForm form_;
  std::string incomplete_;
  std::vector<FieldRecord> fields_;  // the numbers of parents count from the first one
  std::vector<ColumnRecord> table_columns_;
};

FieldMaker::FieldMaker(std::span<const InputColumn> columns, bool compressed, std::vector<NotHeld>* not_held)
    : columns_(columns), compressed_(compressed), not_held_(not_held) {
  for (const InputColumn& column : columns) classes_.insert(column.classes.begin(), column.classes.end());
}

Result<> FieldMaker::make(const OfferedNode& top) {
  form_.name = field_name_of(top);
  return add(top, top.name, form_.name, {});
}

FieldForm FieldMaker::form() const {
  FieldForm form = form_;
  form.columns = form.encoded;
  form.kind = form.encoded.size() == 1 ? FieldForm::Kind::number : FieldForm::Kind::nested;
  for (const std::uint32_t i : form.columns) {
    if (form.title.empty()) form.title = columns_[i].title;
  }
  drop_idle_parts(form.variants);
  return form;
}

void FieldMaker::add_to(SchemaRecords& schema, const std::string& title) const {
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

FieldId FieldMaker::add_record(FieldRole role, const Around& around, Name name, std::string type) {
  FieldRecord& field = fields_.emplace_back();
  field.role = role;
  field.parent = around.parent;
  field.name = name;
  field.type_name = std::move(type);
  return static_cast<FieldId>(fields_.size() - 1);
}

void FieldMaker::add_column(FieldId field, ColumnType type, std::uint16_t bits) {
  ColumnRecord& column = table_columns_.emplace_back();
  column.type = static_cast<std::uint16_t>(type);
  column.bits = bits;
  column.field = field;
}

void FieldMaker::add_index(FieldId field) {
  constexpr std::uint16_t kIndexBits = 64;
  add_column(field, compressed_ ? ColumnType::split_index64 : ColumnType::index64, kIndexBits);
}

std::uint32_t FieldMaker::note(std::uint32_t column, const Around& around, std::size_t alternatives) {
  form_.encoded.push_back(column);
  form_.lists.push_back(around.list);
  form_.variants.push_back({around.tag, static_cast<std::uint8_t>(alternatives)});
  return static_cast<std::uint32_t>(form_.encoded.size() - 1);
}

Result<> FieldMaker::add(const OfferedNode& node, const std::string& path, Name name, const Around& around) {
  TRY_VOID(check_field_name(path, name));
  if (node.column) return add_number(*node.column, name, around);
  if (const OfferedNode* offsets = offsets_in(node, columns_)) return add_list(node, *offsets, path, name, around);
  const OfferedNode *tags = child_of(node, kTagsName), *index = child_of(node, kIndexName);
  if (tags && index && tags->column && index->column)
    return add_variant(node, {*tags->column, *index->column}, path, name, around);
  return add_members(node, path, name, around);
}

tl::unexpected<Error> FieldMaker::of_another_type(const std::string& path, const std::string& type) {
  return invalid(path, "it does not belong to a variant of type " + type);
}

Result<> FieldMaker::add_number(std::uint32_t column, Name name, const Around& around) {
  const InputColumn& offered = columns_[column];
  note(column, around);
  if (template_name(around.type) == "std::bitset") return add_bits(offered, name, around);
  TRY(const std::vector<std::string> types, types_of(offered, around.type));
  FieldId field = add_record(FieldRole::leaf, around, name, types[0]);
  for (std::size_t i = 0; i < offered.shape.size(); ++i) {
    fields_[field].array_size = offered.shape[i];
    field = add_record(FieldRole::leaf, {field}, kItemName, types[i + 1]);
  }
  return add_element(offered, field);
}

Result<std::vector<std::string>> FieldMaker::types_of(const InputColumn& offered, const std::string& type) {
  std::vector<std::string> types;
  if (type.empty()) {
    types.emplace_back(kNumberTypes[static_cast<std::size_t>(offered.dtype)].name);
    for (std::size_t i = offered.shape.size(); i-- > 0;)
      types.push_back("std::array<" + types.back() + "," + std::to_string(offered.shape[i]) + ">");
    std::ranges::reverse(types);
    return types;
  }
  types.push_back(type);
  for (const std::uint32_t extent : offered.shape) {
    auto arguments = arguments_of("std::array", types.back());
    if (!arguments || arguments->size() != 2 || (*arguments)[1] != std::to_string(extent))
      return of_another_type(offered.path, type);
    types.push_back(std::move((*arguments)[0]));
  }
  return types;
}

Result<> FieldMaker::add_bits(const InputColumn& offered, Name name, const Around& around) {
  const auto bits = template_arguments(around.type);
  if (!bits || offered.dtype != Dtype::b1 || offered.shape.size() != 1 ||
      *bits != std::vector{std::to_string(offered.shape[0])})
    return of_another_type(offered.path, around.type);
  const FieldId field = add_record(FieldRole::leaf, around, name, around.type);
  fields_[field].array_size = offered.shape[0];
  add_column(field, ColumnType::bit, 1);
  return {};
}

Result<> FieldMaker::add_element(const InputColumn& offered, FieldId field) {
  const NumberType& number = kNumberTypes[static_cast<std::size_t>(offered.dtype)];
  const std::string type = fields_[field].type_name;
  if (dtype_of_type(type) == offered.dtype) {
    add_numbers(offered, field, type);
    return {};
  }
  const auto atomic = arguments_of("std::atomic", type);
  const bool may_be_enum = !dtype_of_type(type) && !type.starts_with("std::") && type.find('<') == type.npos;
  if (!may_be_enum && (!atomic || atomic->size() != 1 || dtype_of_type((*atomic)[0]) != offered.dtype))
    return of_another_type(offered.path, type);
  const FieldId inner =
      add_record(FieldRole::leaf, {field}, kItemName, atomic ? (*atomic)[0] : std::string(number.name));
  add_numbers(offered, inner, fields_[inner].type_name);
  return {};
}

void FieldMaker::add_numbers(const InputColumn& offered, FieldId field, std::string_view type) {
  const NumberType& number = kNumberTypes[static_cast<std::size_t>(offered.dtype)];
  if (offered.dtype == Dtype::f4 && offered.encoding.kind != FloatEncoding::Kind::whole) {
    table_columns_.push_back(short_column(offered.encoding));
    table_columns_.back().field = field;
  } else if (type == "char" || type == "std::byte") {
    add_column(field, type == "char" ? ColumnType::character : ColumnType::byte, number.bits);
  } else {
    add_column(field, compressed_ ? number.split : number.plain, number.bits);
  }
}

Result<> FieldMaker::add_list(const OfferedNode& node, const OfferedNode& offsets, const std::string& path, Name name,
                              const Around& around) {
  if (node.children.size() == 1) return miss("offsets without values or chars");
  if (node.children.size() > 2) return invalid(path, "offsets with more than one other column");
  const OfferedNode& items = &node.children[0] == &offsets ? node.children[1] : node.children[0];
  const std::string items_path = path + "/" + items.name;
  const std::uint32_t place = note(*offsets.column, around);
  if (items.column && columns_[*items.column].role == Role::chars)
    return add_text(*items.column, place, path, name, around);
  const auto streamed = classes_.find(path);
  if (items.column && columns_[*items.column].role == Role::raw && streamed != classes_.end())
    return add_streamed(*items.column, place, streamed->second, name, around);
  const std::string_view stem = stem_of(items);
  if (stem != "values") {
    return invalid(items_path, stem == "raw" ? "undecoded bytes cannot be written"
                                             : "the items of a list are named values, or chars.u1 for a string");
  }
  TRY(std::string item_type, item_type_of(path, around.type));
  const FieldId field = add_record(FieldRole::collection, around, name, around.type);
  add_index(field);
  const FieldId item = static_cast<FieldId>(fields_.size());
  TRY_VOID(add(items, items_path, kItemName, {field, place, 0, std::move(item_type)}));
  if (!incomplete_.empty()) return {};
  const std::string& type = fields_[item].type_name;
  if (around.type.empty() && !type.empty()) fields_[field].type_name = "std::vector<" + type + ">";
  return {};
}

Result<std::string> FieldMaker::item_type_of(const std::string& path, const std::string& type) {
  const auto arguments = template_arguments(type);
  if (!arguments || arguments->empty())
    return dtype_of_type(type) ? of_another_type(path, type) : Result<std::string>();
  FieldRecord list;
  list.type_name = type;
  const bool is_map = list_kind(list) == NodeKind::map && arguments->size() == 2;
  if (is_map) return "std::pair<" + (*arguments)[0] + "," + (*arguments)[1] + ">";
  for (const char* other : {"std::array", "std::variant", "std::pair", "std::tuple", "std::bitset", "std::atomic"}) {
    if (template_name(type) == other) return of_another_type(path, type);
  }
  return arguments->size() == 1 ? (*arguments)[0] : "";
}

Result<> FieldMaker::add_text(std::uint32_t chars, std::uint32_t list, const std::string& path, Name name,
                              const Around& around) {
  constexpr std::uint16_t kCharacterBits = 8;
  constexpr const char* kType = "std::string";
  if (!around.type.empty() && around.type != kType) return of_another_type(path, around.type);
  note(chars, {0, list});
  const FieldId field = add_record(FieldRole::leaf, around, name, kType);
  add_index(field);
  add_column(field, ColumnType::character, kCharacterBits);
  return {};
}

Result<> FieldMaker::add_streamed(std::uint32_t bytes, std::uint32_t list, Name class_name, Name name,
                                  const Around& around) {
  constexpr std::uint16_t kByteBits = 8;
  note(bytes, {0, list});
  const FieldId field = add_record(FieldRole::streamer, around, name, class_name);
  add_index(field);
  add_column(field, ColumnType::byte, kByteBits);
  return {};
}

Result<> FieldMaker::add_variant(const OfferedNode& node, VariantColumns columns, const std::string& path, Name name,
                                 const Around& around) {
  const auto given = around.type.empty() ? classes_.find(path) : classes_.end();
  const std::string type = given == classes_.end() ? around.type : given->second;
  const auto types = arguments_of("std::variant", type);
  if (!types) {
    return miss("user.tfilefs.class of " + path + " must name its alternatives in the order of their tags, as " +
                "std::variant<std::int32_t,std::string> does" + (type.empty() ? "" : "; it is " + type));
  }
  if (types->empty() || types->size() > kAlternativesMax)
    return invalid(path, "a variant of " + std::to_string(types->size()) + " alternatives cannot be written");
  const std::vector<const OfferedNode*> found = alternatives_in(node, *types);
  const auto missing = std::ranges::find(found, nullptr);
  if (missing != found.end())
    return miss("no columns of " + (*types)[static_cast<std::size_t>(missing - found.begin())] + ", of " + type);
  for (const OfferedNode& child : node.children) {
    const bool is_own = child.name == kTagsName || child.name == kIndexName;
    if (!is_own && std::ranges::find(found, &child) == found.end())
      return invalid(path + "/" + child.name, "it is not an alternative of " + type);
  }
  const std::uint32_t place = note(columns.tags, around, types->size());
  note(columns.index, around);
  const FieldId field = add_record(FieldRole::variant, around, name, variant_type(*types));
  constexpr std::uint16_t kSwitchBits = 96;
  add_column(field, ColumnType::switch_, kSwitchBits);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Around inside{field, place, static_cast<std::uint8_t>(i + 1), (*types)[i]};
    TRY_VOID(add(*found[i], path + "/" + found[i]->name, kItemPrefix + std::to_string(i), inside));
    if (!incomplete_.empty()) return {};
  }
  return {};
}

Result<> FieldMaker::add_members(const OfferedNode& node, const std::string& path, Name name, const Around& around) {
  if (node.children.size() == 1) {
    const std::string only(stem_of(node.children[0]));
    if (only == "values" || node.children[0].name == "chars.u1") return miss(only + " without offsets");
  }
  const auto known = classes_.find(path);
  const std::string type = around.type.empty() && known != classes_.end() ? known->second : around.type;
  if (template_name(type) == "std::variant") return miss("a variant without tags.i1 and index.i8");
  if (dtype_of_type(type) || type == "std::string") return of_another_type(path, type);
  const FieldId field = add_record(FieldRole::record, around, name, type);
  std::set<std::string> names;
  const bool may_lack_some = not_held_ != nullptr && type.empty();
  const std::size_t lacked_before = may_lack_some ? not_held_->size() : 0;
  const std::size_t noted_before = form_.encoded.size();
  for (const Member& member : members_of(node, type)) {
    const std::string child_path = path + "/" + member.node->name;
    const Made made_before{fields_.size(), table_columns_.size(), form_.encoded.size(),
                           not_held_ == nullptr ? 0 : not_held_->size()};
    const bool is_new = names.insert(member.name).second;
    Result<> added = is_new ? add_member(member, child_path, {field, around.list, around.tag, member.type})
                            : Result<>(invalid(child_path, "duplicate member name"));
    if (may_lack_some && added && !incomplete_.empty()) added = invalid(child_path, std::exchange(incomplete_, ""));
    if (!added && may_lack_some) {
      take_back(made_before);
      not_held_->push_back({child_path, added.error().text});
      continue;
    }
    TRY_VOID(std::move(added));
    if (!incomplete_.empty()) return {};
  }
  if (!may_lack_some || not_held_->size() == lacked_before || form_.encoded.size() > noted_before) return {};
  const std::string first = (*not_held_)[lacked_before].reason;  // nothing is left of the record
  not_held_->resize(lacked_before);
  return fail(ErrorKind::invalid, first);
}

Result<> FieldMaker::add_member(const Member& member, const std::string& path, const Around& around) {
  const OfferedNode& node = *member.node;
  TRY_VOID(check_member_name(path, node));
  return add(node, path, member.name, around);
}

void FieldMaker::take_back(const Made& before) {
  fields_.resize(before.fields);
  table_columns_.resize(before.columns);
  if (not_held_ != nullptr) not_held_->resize(before.not_held);
  form_.encoded.resize(before.noted);
  form_.lists.resize(before.noted);
  form_.variants.resize(before.noted);
}

Result<> FieldMaker::miss(std::string what) {
  incomplete_ = std::move(what);
  return {};
}

}  // namespace

Result<WriteSchema> ntuple_form(std::span<const InputColumn> columns, std::vector<NotHeld>* not_held) {
  TRY(const std::vector<OfferedNode> tops, offered_nodes(columns));
  WriteSchema made;
  std::map<std::string, std::string> names;  // of fields, with the paths that have them
  const auto add = [&](const OfferedNode& top) -> Result<> {
    FieldMaker maker(columns, true, not_held);
    TRY_VOID(maker.make(top));
    FieldForm form = maker.form();
    const auto [known, is_new] = names.emplace(form.name, top.name);
    if (!is_new) return invalid(top.name, "a field of that name already exists: " + known->second);
    if (maker.incomplete().empty()) {
      made.fields.push_back(std::move(form));
    } else {
      made.incomplete.push_back(top.name + ": " + maker.incomplete());
    }
    return {};
  };
  for (const OfferedNode& top : tops) {
    const std::size_t incomplete = made.incomplete.size(), inner = not_held == nullptr ? 0 : not_held->size();
    Result<> added = add(top);
    if (not_held == nullptr) {
      TRY_VOID(std::move(added));
      continue;
    }
    const bool is_incomplete = made.incomplete.size() > incomplete;
    if (added && !is_incomplete) continue;
    not_held->resize(inner);  // all of it, not member by member
    not_held->push_back({top.name, added ? std::move(made.incomplete.back()) : std::move(added.error().text)});
    if (is_incomplete) made.incomplete.pop_back();
  }
  tie_lengths(columns, made);
  return made;
}

// As ROOT, projected fields behind all others.
Result<> add_to_schema(std::span<const InputColumn> columns, const WriteSchema& form, bool compressed,
                       SchemaRecords& schema) {
  TRY(const std::vector<OfferedNode> tops, offered_nodes(columns));
  std::map<std::string, const OfferedNode*> by_name;
  for (const OfferedNode& top : tops) by_name.emplace(field_name_of(top), &top);
  for (const FieldForm& field : form.fields) {
    if (shows_lengths(field)) continue;
    FieldMaker maker(columns, compressed);
    TRY_VOID(maker.make(*by_name.at(field.name)));
    maker.add_to(schema, field.title);
  }
  for (const FieldForm& field : form.fields) {
    if (shows_lengths(field)) TRY_VOID(add_length_field(columns, field, schema));
  }
  return {};
}

}  // namespace tfile
