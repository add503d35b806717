// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "streamer/layout/class_layout.h"
#include "tfile/date.h"
#include "tfile/node.h"

namespace tfile {

// A column that a shape needs: the array of a slot.
struct ShapeColumn {
  Role role = Role::values;
  Dtype dtype = Dtype::i8;
  std::uint32_t slot = 0;
  const Shape* shape = nullptr;    // the shape that the column belongs to
  std::vector<std::string> field;  // member names from the whole value down to the column
  std::vector<ColumnId> lists;     // the lists around it; offsets add themselves later
};

inline NodeKind kind_of(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::number:
      return NodeKind::number;
    case Shape::Kind::string:
      return NodeKind::string;
    case Shape::Kind::raw:
      return NodeKind::raw;
    case Shape::Kind::variant:
      return NodeKind::variant;
    case Shape::Kind::record:
      return NodeKind::record;
    case Shape::Kind::list:
      break;
  }
  return shape.is_optional ? NodeKind::optional : shape.is_map ? NodeKind::map : NodeKind::list;
}

// The classes of tags 1, 2, ... of a variant.
inline std::string alternatives_text(const std::vector<std::string>& alternatives) {
  std::string text;
  for (const std::string& alternative : alternatives) text += (text.empty() ? "" : "|") + alternative;
  return text;
}

// Sets the properties of a column that follow from its shape; the column has its role and lists. `id` is its own
// number.
inline void note_shape(Column& column, ColumnId id, const ShapeColumn& made) {
  if (made.role == Role::values) column.shape = made.shape->shape;
  if (made.role == Role::raw) column.reason = made.shape->reason;
  if (made.role == Role::offsets) {
    column.lists.push_back(id);
    column.optional = made.shape->is_optional;
  }
  if (made.role != Role::tags) return;
  std::vector<std::string> alternatives;
  for (const Shape& alternative : made.shape->parts) alternatives.push_back(alternative.name);
  column.class_name = alternatives_text(alternatives);
}

// Makes the nodes of a shape. `add_column(const ShapeColumn&) -> ColumnId` appends their columns in order. `Draft` as
// in place_nodes (model/node_draft.h).
template <class Draft, class AddColumn>
class ShapeNodes {
 public:
  explicit ShapeNodes(AddColumn add_column) : add_column_(std::move(add_column)) {}

  void add(Draft& draft, const Shape& shape, const std::vector<std::string>& field, std::vector<ColumnId> lists) {
    draft.kind = kind_of(shape);
    if (shape.kind == Shape::Kind::number) draft.date = date_of_number(shape.class_name);
    if (shape.kind == Shape::Kind::record) draft.date = date_of_record(shape.class_name);
    switch (shape.kind) {
      case Shape::Kind::number:
        draft.column = column(Role::values, shape.dtype, shape, shape.slot, field, lists);
        return;
      case Shape::Kind::variant:
        return add_variant(draft, shape, field, lists);
      case Shape::Kind::record:
        return add_parts(draft, shape, field, lists);
      case Shape::Kind::raw:
      case Shape::Kind::string:
      case Shape::Kind::list:
        break;
    }
    lists.push_back(*leaf(draft, "offsets", column(Role::offsets, Dtype::i8, shape, shape.slot, field, lists)).column);
    if (shape.kind == Shape::Kind::string)
      leaf(draft, "chars", column(Role::chars, Dtype::u1, shape, shape.slot + 1, field, lists));
    if (shape.kind == Shape::Kind::raw)
      leaf(draft, "raw", column(Role::raw, Dtype::u1, shape, shape.slot + 1, field, lists));
    if (shape.kind != Shape::Kind::list || !shape.parts[0].has_columns()) return;
    Draft values;
    values.name = "values";
    add(values, shape.parts[0], field, std::move(lists));
    draft.children.push_back(std::move(values));
  }

 private:
  ColumnId column(Role role, Dtype dtype, const Shape& shape, std::uint32_t slot, const std::vector<std::string>& field,
                  const std::vector<ColumnId>& lists) {
    return add_column_(ShapeColumn{role, dtype, slot, &shape, field, lists});
  }
  static Draft& leaf(Draft& parent, const char* name, ColumnId id) {
    Draft& made = parent.children.emplace_back();
    made.name = name;
    made.kind = NodeKind::number;
    made.column = id;
    return made;
  }

  // A node for each member, or alternative, by its name.
  void add_parts(Draft& draft, const Shape& shape, const std::vector<std::string>& field,
                 const std::vector<ColumnId>& lists) {
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
      const Shape& part = shape.parts[i];
      if (!part.has_columns()) continue;
      auto below = field;
      below.push_back(part.name);
      Draft node;
      node.name = part.name;
      if (shape.kind == Shape::Kind::variant) node.tag = static_cast<std::uint32_t>(i + 1);
      add(node, part, below, lists);
      draft.children.push_back(std::move(node));
    }
  }

  // Tags, index, and one node per alternative, which holds the items of all entries one after the other.
  void add_variant(Draft& draft, const Shape& shape, const std::vector<std::string>& field,
                   const std::vector<ColumnId>& lists) {
    for (const Shape& alternative : shape.parts) draft.alternatives.push_back(alternative.name);
    leaf(draft, "tags", column(Role::tags, Dtype::i1, shape, shape.slot, field, lists));
    leaf(draft, "index", column(Role::index, Dtype::i8, shape, shape.slot + 1, field, lists));
    add_parts(draft, shape, field, lists);
  }

  AddColumn add_column_;
};

}  // namespace tfile
