// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "model/offered_nodes.h"
#include "tfile/name.h"
#include "tfile/writer.h"
#include "tree/write/branch_form.h"

// Groups columns into fields, which become branches. Only their paths matter: "offsets.i8" makes a directory a list or
// a text, and a directory without it is a record (docs/semantics.md, "Writing").

namespace tfile {
namespace {

// ROOT's dictionaries and readers are hardly tested with lists that nest deeper than this.
constexpr std::size_t kListsMax = 8;

// The form of a file or directory, as far as its columns were offered.
struct Shape {
  enum class Kind : std::uint8_t { number, text, list, record } kind = Kind::number;
  std::vector<std::uint32_t> columns;  // offsets outermost first, then values, or offsets and chars; a record's members
  bool of_texts = false;               // list: its innermost items are texts
  std::string incomplete;              // what is missing; the other members are then meaningless
};

tl::unexpected<Error> invalid(const std::string& path, const std::string& reason) {
  return fail(ErrorKind::invalid, path + ": " + reason);
}

class FormMaker {
 public:
  explicit FormMaker(std::span<const OfferedColumn> columns) : columns_(columns) {}

  Result<OfferedForm> make() {
    TRY(tops_, offered_nodes(columns_));
    // Finds counters first, wherever they were offered: lists look for theirs.
    for (const OfferedNode& top : tops_) {
      if (top.column) numbers_.emplace(field_name_of(top), *top.column);
    }
    for (const OfferedNode& top : tops_) TRY_VOID(add_field(top));
    return std::move(form_);
  }

 private:
  const OfferedColumn& column(const OfferedNode& place) const { return columns_[*place.column]; }

  Result<> add_field(const OfferedNode& top) {
    TRY(const Shape shape, shape_of(top, top.name));
    FieldForm field;
    field.name = field_name_of(top);
    if (!names_.insert({field.name, top.name}).second) {
      return invalid(top.name, "a branch of that name is there already: " + names_[field.name]);
    }
    if (!shape.incomplete.empty()) {
      form_.incomplete.push_back(top.name + ": " + shape.incomplete);
      return {};
    }
    field.columns = shape.columns;
    switch (shape.kind) {
      case Shape::Kind::number:
        break;
      case Shape::Kind::text:
        field.kind = FieldForm::Kind::text;
        break;
      case Shape::Kind::record:
        field.kind = FieldForm::Kind::record;
        break;
      case Shape::Kind::list:
        field.kind = FieldForm::Kind::list;
        if (const auto counter = counter_of_list(shape, field.name)) {
          field.encoded.push_back(*counter);
          break;
        }
        if (columns_[shape.columns.back()].shape.empty()) break;
        form_.incomplete.push_back(top.name + ": a list of arrays is written where a column of integers counts it");
        return {};
    }
    note_lists(shape, field);
    for (const std::uint32_t i : shape.columns) {
      if (field.title.empty()) field.title = columns_[i].title;
    }
    form_.fields.push_back(std::move(field));
    return {};
  }

  // Adds the columns to those that are encoded. Each level of a list lies in the one before it.
  static void note_lists(const Shape& shape, FieldForm& field) {
    const bool is_nested = shape.kind == Shape::Kind::list || shape.kind == Shape::Kind::text;
    field.lists.assign(field.encoded.size(), FieldForm::kEachEntry);
    for (std::size_t i = 0; i < shape.columns.size(); ++i) {
      const bool is_top = i == 0 || !is_nested;
      field.lists.push_back(is_top ? FieldForm::kEachEntry : static_cast<std::uint32_t>(field.lists.size() - 1));
      field.encoded.push_back(shape.columns[i]);
    }
  }

  // A list of numbers whose counter was offered, too, becomes an array with that counter. Any other list becomes a
  // vector, whose items cannot be arrays.
  std::optional<std::uint32_t> counter_of_list(const Shape& shape, const std::string& name) const {
    if (shape.columns.size() != 2) return std::nullopt;
    const std::string& known = columns_[shape.columns.back()].counter;
    const auto typed = parse_typed_name(known);
    const auto counter = typed ? number_of(unescape_name(typed->stem)) : std::nullopt;
    return counter ? counter : counter_of(name);
  }

  std::optional<std::uint32_t> number_of(const std::string& counter) const {
    const auto found = numbers_.find(counter);
    if (found == numbers_.end() || !can_count(columns_[found->second])) return std::nullopt;
    return found->second;
  }

  // "nNAME", or "nPREFIX" if the name is "PREFIX_xxx": one integer per entry. The longest prefix wins.
  std::optional<std::uint32_t> counter_of(const std::string& name) const {
    for (std::string prefix = name; !prefix.empty();) {
      if (const auto counter = number_of("n" + prefix)) return counter;
      const std::size_t underscore = prefix.rfind('_');
      prefix.resize(underscore == prefix.npos ? 0 : underscore);
    }
    return std::nullopt;
  }

  Result<Shape> shape_of(const OfferedNode& place, const std::string& path) const {
    if (place.column) return Shape{Shape::Kind::number, {*place.column}, false, {}};
    const OfferedNode* offsets = offsets_in(place, columns_);
    return offsets == nullptr ? record_of(place, path) : list_of(place, *offsets, path);
  }

  Result<Shape> list_of(const OfferedNode& place, const OfferedNode& offsets, const std::string& path) const {
    Shape shape;
    shape.columns = {*offsets.column};
    if (place.children.size() == 1) {
      shape.incomplete = "offsets without values or chars";
      return shape;
    }
    const OfferedNode& items = &place.children[0] == &offsets ? place.children[1] : place.children[0];
    const std::string items_path = path + "/" + items.name;
    if (place.children.size() > 2) return invalid(path, "offsets and more than one column beside them");
    if (!items.column) {
      if (items.name != "values") return invalid(items_path, "a list's items stand under values");
    } else if (column(items).role == Role::chars) {
      shape.kind = Shape::Kind::text;
      shape.columns.push_back(*items.column);
      return shape;
    } else if (const auto typed = parse_typed_name(items.name); !typed || typed->stem != "values") {
      return invalid(items_path, typed && typed->stem == "raw" ? "bytes that were not decoded are not written"
                                                               : "a list's items are values, or chars.u1 of a text");
    }
    TRY(const Shape inner, shape_of(items, items_path));
    if (inner.kind == Shape::Kind::record) return invalid(path, "lists of records, and maps, are not written");
    if (!inner.incomplete.empty()) {
      shape.incomplete = "values: " + inner.incomplete;
      return shape;
    }
    shape.kind = Shape::Kind::list;
    shape.of_texts = inner.of_texts || inner.kind == Shape::Kind::text;
    shape.columns.insert(shape.columns.end(), inner.columns.begin(), inner.columns.end());
    if (shape.columns.size() > kListsMax + 1) return invalid(path, "lists that nest deeper than eight levels");
    if (inner.kind == Shape::Kind::list && !columns_[shape.columns.back()].shape.empty()) {
      return invalid(path, "lists of lists of arrays are not written");
    }
    return shape;
  }

  Result<Shape> record_of(const OfferedNode& place, const std::string& path) const {
    Shape shape;
    shape.kind = Shape::Kind::record;
    const auto has = [&](std::string_view name) {
      return std::any_of(place.children.begin(), place.children.end(),
                         [&](const OfferedNode& c) { return c.name == name; });
    };
    if (has("tags.i1") && has("index.i8")) return invalid(path, "variants are not written");
    const bool one_child = place.children.size() == 1;
    for (const OfferedNode& child : place.children) {
      const std::string child_path = path + "/" + child.name;
      if (!child.column) {
        if (!one_child || child.name != "values")
          return invalid(child_path, "records of anything but numbers are not written");
      } else {
        const auto typed = parse_typed_name(child.name);
        const std::string stem = typed ? typed->stem : std::string();
        if (one_child && (stem == "values" || column(child).role == Role::chars)) {
          shape.kind = Shape::Kind::list;
          shape.incomplete = stem + " without offsets";
          return shape;
        }
        TRY_VOID(check_offered_name(child_path, stem, child.name.size() - stem.size()));
        shape.columns.push_back(*child.column);
      }
    }
    // The mount shows a branch of one leaf as that leaf, so it would not be a record.
    if (one_child) shape.incomplete = "a record needs two members";
    if (shape.columns.empty()) {
      shape.kind = Shape::Kind::list;
      shape.incomplete = "values without offsets";
    }
    return shape;
  }

  std::span<const OfferedColumn> columns_;
  std::vector<OfferedNode> tops_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // with one number per entry, by name of their field
  std::unordered_map<std::string, std::string> names_;      // of fields, with the paths that have them
  OfferedForm form_;
};

}  // namespace

Result<OfferedForm> tree_form(std::span<const OfferedColumn> columns) { return FormMaker(columns).make(); }

}  // namespace tfile
