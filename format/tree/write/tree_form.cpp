// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/input_nodes.h"
#include "model/list_lengths.h"
#include "tfile/name.h"
#include "tfile/variant_type.h"
#include "tfile/writer.h"
#include "tree/write/branch_form.h"
#include "tree/write/record_class.h"

// Groups columns into fields, which become branches. Only their paths matter: "offsets.i8" makes a directory a list or
// a text, and a directory without it is a record (docs/semantics/writing.md, "Writing").

namespace tfile {
namespace {

// The dimensions that a member of a class has in StreamerInfo.
constexpr std::size_t kMemberDimensionsMax = 5;

// ROOT's dictionaries and readers are hardly tested with lists that nest deeper than this.
constexpr std::size_t kListsMax = 8;

constexpr const char* kInnerRecords = "lists of records in lists or records cannot be written";

// The form of a file or directory, as far as its columns were offered.
struct Shape {
  // `record`: numbers, as leaves of one branch; `object`: any other record; `records`: a list of records.
  enum class Kind : std::uint8_t { number, text, list, record, object, records } kind = Kind::number;
  std::vector<std::uint32_t> columns;  // offsets outermost first, then values, or offsets and chars; a record's members
  bool of_texts = false;               // list: its innermost items are texts
  std::vector<std::uint32_t> lists;    // object, records: as FieldForm::lists
  std::string incomplete;              // what is missing; the other members are then meaningless
  std::set<std::string> members = {};  // object, records: the names of their members
};

tl::unexpected<Error> invalid(const std::string& path, const std::string& reason) {
  return fail(ErrorKind::invalid, path + ": " + reason);
}

class FormMaker {
 public:
  // `not_held`: null: what is not held is an error.
  FormMaker(std::span<const InputColumn> columns, std::vector<NotHeld>* not_held)
      : columns_(columns), not_held_(not_held) {}
  Result<WriteSchema> make();

 private:
  const InputColumn& column(const OfferedNode& place) const { return columns_[*place.column]; }
  Result<> add_or_leave_out(const OfferedNode& top);

  // Leaves out a member that is not held, where that is wanted.
  Result<> leave_out(const std::string& path, Error error) const;

  // The members of a record, as far as they are held: `add` adds one. The first error if none is.
  template <class Add>
  Result<> add_members(const OfferedNode& record, const std::string& path, const Add& add) const {
    const std::size_t before = not_held_ == nullptr ? 0 : not_held_->size();
    std::size_t held = 0;
    for (const OfferedNode& member : record.children) {
      const std::string member_path = path + "/" + member.name;
      const std::size_t inner = not_held_ == nullptr ? 0 : not_held_->size();
      if (auto added = add(member, member_path); !added) {
        if (not_held_ != nullptr) not_held_->resize(inner);
        TRY_VOID(leave_out(member_path, std::move(added).error()));
      } else {
        ++held;
      }
    }
    if (held > 0 || not_held_ == nullptr || not_held_->size() == before) return {};
    const std::string first = (*not_held_)[before].reason;
    not_held_->resize(before);
    return fail(ErrorKind::invalid, first);
  }
  Result<> add_field(const OfferedNode& top);

  // Takes the name of a branch, or of one below it: ROOT finds both by their whole names.
  Result<> take_name(const std::string& name, const OfferedNode& top);
  static FieldForm::Kind kind_of(Shape::Kind kind);

  // Adds the columns to those that are encoded. Each level of a list lies in the one before it.
  static void note_lists(const Shape& shape, FieldForm& field);

  // A list of numbers whose counter was offered, too, becomes an array with that counter. Any other list becomes a
  // vector, whose items cannot be arrays.
  std::optional<std::uint32_t> counter_of_list(const Shape& shape, const std::string& name) const;
  std::optional<std::uint32_t> number_of(const std::string& counter) const;

  // "nNAME", or "nPREFIX" if the name is "PREFIX_xxx": one integer per entry. The longest prefix wins.
  std::optional<std::uint32_t> counter_of(const std::string& name) const;
  Result<Shape> shape_of(const OfferedNode& place, const std::string& path) const;
  Result<Shape> list_of(const OfferedNode& place, const OfferedNode& offsets, const std::string& path) const;

  // Checks what stands beside the offsets of a list.
  Result<> check_items(const OfferedNode& items, const std::string& path) const;
  static bool is_variant(const OfferedNode& place);

  // A list of records: `items` has their members. They become objects of a class.
  Result<Shape> records_of(const OfferedNode& items, const OfferedNode& offsets, const std::string& path) const;

  // Whether the items of a list are `key` and `value`, as far as they are known, and not both numbers.
  static bool may_be_map(const OfferedNode& items);

  // A map of texts, for which ROOT has a dictionary. `shape` has the list.
  Result<Shape> map_of(const OfferedNode& items, const std::string& path, Shape shape) const;
  Result<> add_member(const OfferedNode& member, const std::string& path, Shape& shape) const;
  Result<Shape> record_of(const OfferedNode& place, const std::string& path) const;

  // The missing part of a directory that may be a list or a text, as it holds nothing but items of one; else empty.
  std::string missing_list(const OfferedNode& place) const;

  // A record that becomes an object of a class.
  Result<Shape> object_of(const OfferedNode& place, const std::string& path) const;
  Result<> add_object_member(const OfferedNode& member, const std::string& path, Shape& shape) const;

  std::span<const InputColumn> columns_;
  std::vector<NotHeld>* const not_held_;
  std::vector<OfferedNode> tops_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // with one number per entry, by name of their field
  std::unordered_map<std::string, std::string> names_;      // of branches, with the top paths that have them
  WriteSchema form_;
};

Result<WriteSchema> FormMaker::make() {
  TRY(tops_, offered_nodes(columns_));
  // Finds counters first, wherever they were offered: lists look for theirs.
  for (const OfferedNode& top : tops_) {
    if (top.column) numbers_.emplace(field_name_of(top), *top.column);
  }
  for (const OfferedNode& top : tops_) TRY_VOID(add_or_leave_out(top));
  return std::move(form_);
}

Result<> FormMaker::add_or_leave_out(const OfferedNode& top) {
  if (not_held_ == nullptr) return add_field(top);
  const std::size_t inner = not_held_->size(), incomplete = form_.incomplete.size();
  auto added = add_field(top);
  const bool is_incomplete = form_.incomplete.size() > incomplete;
  if (added && !is_incomplete) return {};
  not_held_->resize(inner);  // all of it, not member by member
  not_held_->push_back({top.name, added ? std::move(form_.incomplete.back()) : std::move(added.error().text)});
  if (is_incomplete) form_.incomplete.pop_back();
  return {};
}

Result<> FormMaker::leave_out(const std::string& path, Error error) const {
  if (not_held_ == nullptr) return tl::unexpected(std::move(error));
  not_held_->push_back({path, std::move(error.text)});
  return {};
}

Result<> FormMaker::add_field(const OfferedNode& top) {
  TRY(const Shape shape, shape_of(top, top.name));
  FieldForm field;
  field.name = field_name_of(top);
  TRY_VOID(take_name(field.name, top));
  for (const std::string& member : shape.members) TRY_VOID(take_name(field.name + "." + member, top));
  if (!shape.incomplete.empty()) {
    form_.incomplete.push_back(top.name + ": " + shape.incomplete);
    return {};
  }
  field.columns = shape.columns;
  field.kind = kind_of(shape.kind);
  const auto counter = shape.kind == Shape::Kind::list ? counter_of_list(shape, field.name) : std::nullopt;
  if (counter) field.encoded.push_back(*counter);
  if (shape.kind == Shape::Kind::list && !counter && !columns_[shape.columns.back()].shape.empty()) {
    form_.incomplete.push_back(top.name + ": a list of arrays needs an integer column that counts it");
    return {};
  }
  note_lists(shape, field);
  for (const std::uint32_t i : shape.columns) {
    if (field.title.empty()) field.title = columns_[i].title;
  }
  form_.fields.push_back(std::move(field));
  return {};
}

Result<> FormMaker::take_name(const std::string& name, const OfferedNode& top) {
  if (names_.insert({name, top.name}).second) return {};
  return invalid(top.name, "a branch of that name already exists: " + names_[name]);
}

FieldForm::Kind FormMaker::kind_of(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::number:
      return FieldForm::Kind::number;
    case Shape::Kind::text:
      return FieldForm::Kind::text;
    case Shape::Kind::list:
      return FieldForm::Kind::list;
    case Shape::Kind::record:
      return FieldForm::Kind::record;
    case Shape::Kind::object:
    case Shape::Kind::records:
      break;
  }
  return FieldForm::Kind::nested;
}

void FormMaker::note_lists(const Shape& shape, FieldForm& field) {
  if (!shape.lists.empty()) {
    field.encoded = field.columns;
    field.lists = shape.lists;
    return;
  }
  const bool is_nested = shape.kind == Shape::Kind::list || shape.kind == Shape::Kind::text;
  field.lists.assign(field.encoded.size(), FieldForm::kEachEntry);
  for (std::size_t i = 0; i < shape.columns.size(); ++i) {
    const bool is_top = i == 0 || !is_nested;
    field.lists.push_back(is_top ? FieldForm::kEachEntry : static_cast<std::uint32_t>(field.lists.size() - 1));
    field.encoded.push_back(shape.columns[i]);
  }
}

std::optional<std::uint32_t> FormMaker::counter_of_list(const Shape& shape, const std::string& name) const {
  if (shape.columns.size() != 2) return std::nullopt;
  const std::string& known = columns_[shape.columns.back()].counter;
  const auto typed = parse_typed_name(known);
  const auto counter = typed ? number_of(unescape_name(typed->stem)) : std::nullopt;
  return counter ? counter : counter_of(name);
}

std::optional<std::uint32_t> FormMaker::number_of(const std::string& counter) const {
  const auto found = numbers_.find(counter);
  if (found == numbers_.end() || !can_count(columns_[found->second])) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> FormMaker::counter_of(const std::string& name) const {
  for (const std::string& each : counter_names(name)) {
    if (const auto counter = number_of(each)) return counter;
  }
  return std::nullopt;
}

Result<Shape> FormMaker::shape_of(const OfferedNode& place, const std::string& path) const {
  if (place.column) return Shape{Shape::Kind::number, {*place.column}, false, {}, {}};
  const OfferedNode* offsets = offsets_in(place, columns_);
  return offsets == nullptr ? record_of(place, path) : list_of(place, *offsets, path);
}

Result<Shape> FormMaker::list_of(const OfferedNode& place, const OfferedNode& offsets, const std::string& path) const {
  Shape shape;
  shape.columns = {*offsets.column};
  if (place.children.size() == 1) {
    shape.incomplete = "offsets without values or chars";
    return shape;
  }
  const OfferedNode& items = &place.children[0] == &offsets ? place.children[1] : place.children[0];
  const std::string items_path = path + "/" + items.name;
  if (place.children.size() > 2) return invalid(path, "offsets with more than one other column");
  TRY_VOID(check_items(items, items_path));
  if (items.column && column(items).role == Role::chars) {
    shape.kind = Shape::Kind::text;
    shape.columns.push_back(*items.column);
    return shape;
  }
  // A child that is alone there is a list whose offsets are still to come, or a member to which others are.
  if (std::string missing = missing_list(items); !missing.empty()) {
    shape.kind = Shape::Kind::list;
    shape.incomplete = "values: " + missing;
    return shape;
  }
  if (!items.column && offsets_in(items, columns_) == nullptr) return records_of(items, offsets, path);
  TRY(const Shape inner, shape_of(items, items_path));
  if (inner.kind == Shape::Kind::records) return invalid(items_path, kInnerRecords);
  if (!inner.incomplete.empty()) {
    shape.incomplete = "values: " + inner.incomplete;
    return shape;
  }
  shape.kind = Shape::Kind::list;
  shape.of_texts = inner.of_texts || inner.kind == Shape::Kind::text;
  shape.columns.insert(shape.columns.end(), inner.columns.begin(), inner.columns.end());
  if (shape.columns.size() > kListsMax + 1) return invalid(path, "lists are nested deeper than eight levels");
  if (inner.kind == Shape::Kind::list && !columns_[shape.columns.back()].shape.empty()) {
    return invalid(path, "lists of lists of arrays cannot be written");
  }
  return shape;
}

Result<> FormMaker::check_items(const OfferedNode& items, const std::string& path) const {
  const std::string_view stem = stem_of(items);
  if (!items.column) return stem == "values" ? Result<>() : invalid(path, "the items of a list must be under values");
  if (column(items).role == Role::chars || stem == "values") return {};
  return invalid(path, stem == "raw" ? "undecoded bytes cannot be written"
                                     : "the items of a list are named values, or chars.u1 for a string");
}

bool FormMaker::is_variant(const OfferedNode& place) {
  const auto has = [&](std::string_view name) { return std::ranges::count(place.children, name, &OfferedNode::name); };
  return has(kTagsName) && has(kIndexName);
}

Result<Shape> FormMaker::records_of(const OfferedNode& items, const OfferedNode& offsets,
                                    const std::string& path) const {
  const std::string items_path = path + "/" + items.name;
  if (is_variant(items)) return invalid(items_path, "variants cannot be written");
  Shape shape;
  shape.kind = Shape::Kind::records;
  shape.columns = {*offsets.column};
  shape.lists = {FieldForm::kEachEntry};
  if (may_be_map(items)) return map_of(items, items_path, std::move(shape));
  const auto add = [&](const OfferedNode& member, const std::string& member_path) -> Result<> {
    if (!shape.members.insert(field_name_of(member)).second) return invalid(member_path, "duplicate member name");
    return add_member(member, member_path, shape);
  };
  TRY_VOID(add_members(items, items_path, add));
  return shape;
}

bool FormMaker::may_be_map(const OfferedNode& items) {
  const auto is_part = [](const OfferedNode& member) { return stem_of(member) == "key" || stem_of(member) == "value"; };
  const auto is_number = [](const OfferedNode& member) { return member.column.has_value(); };
  return std::ranges::all_of(items.children, is_part) && !std::ranges::all_of(items.children, is_number) &&
         items.children.size() <= 2;
}

Result<Shape> FormMaker::map_of(const OfferedNode& items, const std::string& path, Shape shape) const {
  for (const std::string_view name : {"key", "value"}) {
    const auto part = std::ranges::find(items.children, name, stem_of);
    if (part == items.children.end()) {
      shape.incomplete = "values: a key without values, or values without a key";
      continue;
    }
    const std::string part_path = path + "/" + part->name;
    TRY(const Shape inner, shape_of(*part, part_path));
    const bool is_number =
        part->column && name == "value" && maps_to(column(*part).dtype) && column(*part).shape.empty();
    if (!inner.incomplete.empty()) {
      shape.incomplete = "values: " + part->name + ": " + inner.incomplete;
    } else if (inner.kind != Shape::Kind::text && !is_number) {
      return invalid(part_path,
                     "maps with strings or lists cannot be written, except of strings to i4, i8, f4, f8 or strings: "
                     "ROOT has no dictionary for other maps with strings");
    }
    const auto first = static_cast<std::uint32_t>(shape.lists.size());
    for (std::uint32_t i = 0; i < inner.columns.size(); ++i) shape.lists.push_back(i == 0 ? 0 : first + i - 1);
    shape.columns.insert(shape.columns.end(), inner.columns.begin(), inner.columns.end());
  }
  return shape;
}

Result<> FormMaker::add_member(const OfferedNode& member, const std::string& path, Shape& shape) const {
  const std::string name = field_name_of(member);
  if (name.find('.') != name.npos) return invalid(path, "a member of records with a dot in its name cannot be written");
  // ROOT 6.40 without a dictionary ends in a crash where such records have a std::string. Its TTreeReader and
  // RDataFrame read vectors that are such members from a wrong place, with a dictionary, too.
  if (!member.column) return invalid(path, "lists of records with members other than numbers cannot be written");
  TRY_VOID(check_member_name(path, member));
  if (column(member).shape.size() > kMemberDimensionsMax)
    return invalid(path, "a member of records with more than five dimensions cannot be written");
  shape.lists.push_back(0);
  shape.columns.push_back(*member.column);
  return {};
}

Result<Shape> FormMaker::record_of(const OfferedNode& place, const std::string& path) const {
  if (is_variant(place)) return invalid(path, "variants cannot be written");
  if (std::string missing = missing_list(place); !missing.empty()) {
    Shape shape;
    shape.kind = Shape::Kind::list;
    shape.incomplete = std::move(missing);
    return shape;
  }
  const auto is_number = [](const OfferedNode& member) { return member.column.has_value(); };
  // The mount shows a branch of one leaf as that leaf, so it would not be a record.
  if (place.children.size() == 1 || !std::ranges::all_of(place.children, is_number)) return object_of(place, path);
  Shape shape;
  shape.kind = Shape::Kind::record;
  const auto add = [&](const OfferedNode& child, const std::string& child_path) -> Result<> {
    TRY_VOID(check_member_name(child_path, child));
    shape.columns.push_back(*child.column);
    return {};
  };
  TRY_VOID(add_members(place, path, add));
  return shape;
}

std::string FormMaker::missing_list(const OfferedNode& place) const {
  if (place.children.size() != 1) return "";
  const OfferedNode& only = place.children[0];
  const std::string stem(stem_of(only));
  const bool is_text = only.column && column(only).role == Role::chars;
  return stem == "values" || is_text ? stem + " without offsets" : "";
}

Result<Shape> FormMaker::object_of(const OfferedNode& place, const std::string& path) const {
  Shape shape;
  shape.kind = Shape::Kind::object;
  const auto add = [&](const OfferedNode& member, const std::string& member_path) -> Result<> {
    const std::string name = field_name_of(member);
    if (name.find('.') != name.npos)
      return invalid(member_path, "a member of records with a dot in its name cannot be written");
    if (!shape.members.insert(name).second) return invalid(member_path, "duplicate member name");
    return add_object_member(member, member_path, shape);
  };
  TRY_VOID(add_members(place, path, add));
  return shape;
}

Result<> FormMaker::add_object_member(const OfferedNode& member, const std::string& path, Shape& shape) const {
  TRY_VOID(check_member_name(path, member));
  TRY(const Shape inner, shape_of(member, path));
  if (inner.kind == Shape::Kind::records) return invalid(path, kInnerRecords);
  if (inner.kind == Shape::Kind::record || inner.kind == Shape::Kind::object)
    return invalid(path, "records in records cannot be written");
  if (!inner.incomplete.empty()) {
    if (not_held_ != nullptr) return invalid(path, inner.incomplete);
    shape.incomplete = member.name + ": " + inner.incomplete;
    return {};
  }
  const std::size_t dimensions = columns_[inner.columns.back()].shape.size();
  if (inner.kind == Shape::Kind::list && dimensions > 0)
    return invalid(path, "lists of arrays in records cannot be written");
  if (dimensions > kMemberDimensionsMax)
    return invalid(path, "a member of records with more than five dimensions cannot be written");
  const auto first = static_cast<std::uint32_t>(shape.lists.size());
  for (std::uint32_t i = 0; i < inner.columns.size(); ++i)
    shape.lists.push_back(i == 0 ? FieldForm::kEachEntry : first + i - 1);
  shape.columns.insert(shape.columns.end(), inner.columns.begin(), inner.columns.end());
  return {};
}

}  // namespace

Result<WriteSchema> tree_form(std::span<const InputColumn> columns, std::vector<NotHeld>* not_held) {
  return FormMaker(columns, not_held).make();
}

}  // namespace tfile
