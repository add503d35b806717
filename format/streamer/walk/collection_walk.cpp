// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "streamer/walk/null_visitor.h"
#include "streamer/walk/object_walk.h"

namespace tfile {

using namespace element_type;

void ObjectWalk::std_array(Cursor& in, const TypeName& type, ValueIn place) {
  if (array_class(infos_, type)) return class_value(in, type.text, 0);
  if (const auto number = number_type(type.arguments[0])) return numbers(in, *number, type.length, {});
  visitor_->begin_list();
  for (std::uint64_t i = 0; i < type.length && may_go_on(in); ++i) value(in, type.arguments[0], place);
  visitor_->end_list();
}

void ObjectWalk::pair(Cursor& outer, const TypeName& type) {
  const Frame frame = told_frame(outer);
  Cursor in = inside(outer, frame);
  visitor_->begin_object(type.text, 0);
  for (std::size_t i = 0; i < 2 && may_go_on(in); ++i) {
    if (is_left_out_of_pair(infos_, type.arguments[0], type.arguments[1], i)) continue;
    visitor_->member(i == 0 ? "first" : "second");
    part(in, type, i, ValueIn::member);
  }
  leave_object(outer, in, frame);
  visitor_->end_object();
}

// A part of a pair, or of an item of a map that is stored item by item, where an array is an object.
void ObjectWalk::part(Cursor& in, const TypeName& pair, std::size_t which, ValueIn place) {
  const TypeName& type = pair.arguments[which];
  const bool may_be_told = place == ValueIn::member || type.kind != TypeName::Kind::array;
  const StreamerElement* told =
      may_be_told ? pair_part(infos_, pair.arguments[0], pair.arguments[1], which, false) : nullptr;
  if (told)
    element(in, *told);
  else
    value(in, type, place);
}

void ObjectWalk::collection(Cursor& outer, const TypeName& type, ValueIn place) {
  if (place == ValueIn::item) return items(outer, type, ItemIn::inner);
  const Frame frame = told_frame(outer);
  Cursor in = inside(outer, frame);
  if (in.failed()) {
    visitor_->null();
  } else if (frame.member_wise) {
    const StreamerInfo* info = value_class(in, type);
    member_wise_items(in, type, info);
  } else {
    items(in, type, frame.counted ? ItemIn::own_header : ItemIn::inner);
  }
  leave(outer, in, frame);
}

// The items after their number, one item after the other.
void ObjectWalk::items(Cursor& in, const TypeName& type, ItemIn place) {
  const auto count = in.big<std::uint32_t>("collection: size");
  if (type.kind == TypeName::Kind::sequence) {
    if (const auto number = number_type(type.arguments[0])) return numbers(in, *number, in.failed() ? 0 : count, {});
    if (const auto own = enumeration(infos_, type.arguments[0], false))
      return enum_items(in, *own, type, place, in.failed() ? 0 : count);
  }
  visitor_->begin_list();
  for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
    if (type.kind == TypeName::Kind::sequence) {
      value(in, type.arguments[0], ValueIn::item);
      continue;
    }
    visitor_->begin_pair(type.text);
    visitor_->member("first");
    part(in, type, 0, ValueIn::item);
    visitor_->member("second");
    part(in, type, 1, ValueIn::item);
    visitor_->end_object();
  }
  visitor_->end_list();
}

// Behind a header of their own, the items fill the rest of its bytes.
void ObjectWalk::enum_items(Cursor& in, int own, const TypeName& type, ItemIn place, std::uint32_t count) {
  EnumItem item = enum_item(own);
  if (place == ItemIn::own_header && in.left() == std::uint64_t{count} * sizeof(std::int32_t)) {
    if (size_of(item.dtype) != sizeof(std::int32_t)) item.dtype = Dtype::i4;
  } else if (place == ItemIn::shared_header && !enum_item(own, type, place)) {
    in.reject("collection of enumerations, whose items ROOT does not write completely");
  }
  numbers(in, {.dtype = item.dtype}, count, {});
}

void ObjectWalk::no_items() {
  visitor_->begin_list();
  visitor_->end_list();
}

// Skips the version of the value class, and returns the class if the values are of a class.
const StreamerInfo* ObjectWalk::value_class(Cursor& in, const TypeName& type) {
  const auto version = in.big<std::uint16_t>("collection: version of the value class");
  const auto checksum = version == 0 ? in.big<std::uint32_t>("collection: checksum of the value class") : 0;
  if (type.kind == TypeName::Kind::map || type.arguments.empty()) return nullptr;
  if (const StreamerInfo* array = array_class(infos_, type.arguments[0])) return array;
  if (type.arguments[0].kind != TypeName::Kind::named_class) return nullptr;
  return find(type.arguments[0].text, version, checksum);
}

void ObjectWalk::member_wise_items(Cursor& in, const TypeName& type, const StreamerInfo* info) {
  const auto count = in.big<std::uint32_t>("collection: size");
  if (in.failed() || count == 0) return no_items();
  const bool is_map = type.kind == TypeName::Kind::map;
  const TypeName& item = is_map ? type : type.arguments[0];
  if (!is_map && item.kind != TypeName::Kind::pair) {
    if (!info) in.reject("collection: its class is not described");
    return items_by_member(in, count, info);
  }
  MemberColumns columns;
  for (std::size_t i = 0; i < 2; ++i) {
    if (is_left_out_of_pair(infos_, item.arguments[0], item.arguments[1], i)) continue;
    if (const auto* told = pair_part(infos_, item.arguments[0], item.arguments[1], i, false)) {
      add_element_column(in, count, *told, columns);
      continue;
    }
    add_value_column(in, count, i == 0 ? "first" : "second", item.arguments[i], columns);
  }
  tell_columns(in, count, columns, is_map ? std::string_view() : item.text, type.text);
}

void ObjectWalk::items_by_member(Cursor& in, std::uint32_t count, const StreamerInfo* info) {
  if (in.failed()) return visitor_->null();
  MemberColumns columns;
  add_class_columns(in, count, *info, columns);
  tell_columns(in, count, columns, info->class_name, {});
}

void ObjectWalk::add_class_columns(Cursor& in, std::uint32_t count, const StreamerInfo& info, MemberColumns& columns) {
  const RecursionGuard guard(*this);
  const auto has_count = [](const StreamerElement& e) { return !e.count_name.empty(); };
  if (std::ranges::any_of(info.elements, has_count)) columns.has_counters = true;
  for (const StreamerElement& e : info.elements) {
    if (!may_go_on(in)) return;
    if (!is_base(e)) {
      add_element_column(in, count, e, columns);
      continue;
    }
    const StreamerInfo* above = find(e.name, e.base_version, e.base_checksum);
    const OwnClass* own = own_class(e.name);
    if (above && own && own->kind == OwnClass::Kind::array) {
      add_array_columns(in, count, own->dtype, columns);
    } else if (above && !own && !has_header(in, e)) {
      add_class_columns(in, count, *above, columns);
    } else {
      add_column(
          in, count, {}, [this, &e](Cursor& at) { base(at, e); }, columns);
    }
  }
}

// A TArrayD as a base, as the file describes it: by itself it has a streamer of its own.
void ObjectWalk::add_array_columns(Cursor& in, std::uint32_t count, Dtype dtype, MemberColumns& columns) {
  columns.has_counters = true;
  auto read_count = [this](Cursor& at) { counters_.push_back({"fN", at.big<std::int32_t>("TArray: fN")}); };
  add_column(in, count, {}, std::move(read_count), columns);
  auto read_numbers = [this, dtype](Cursor& at) {
    const std::int64_t length = counter("fN").value_or(0);
    if (length < 0) at.reject("TArray: fN");
    counted_numbers(at, {.dtype = dtype}, std::max<std::int64_t>(0, length), true);
  };
  add_column(in, count, "fArray", std::move(read_numbers), columns);
}

// Whether the base of each item has its own header (byte count and version of the base), as TNamed always has.
bool ObjectWalk::has_header(const Cursor& in, const StreamerElement& e) {
  if (e.type == kTNamed) return true;
  Cursor ahead = in;
  const Frame frame = read_frame(ahead);
  return !ahead.failed() && frame.counted && frame.version == e.base_version;
}

// A collection has one header for all items, and so do strings in some arrays.
void ObjectWalk::add_element_column(Cursor& in, std::uint32_t count, const StreamerElement& e, MemberColumns& columns) {
  const Prepared& p = prepared(e);
  if ((e.kind == ElementKind::stl || e.kind == ElementKind::stl_string) && p.shape.empty())
    return add_value_column(in, count, e.name, p.type, columns);
  if (const ElementForm form = form_of(e); form.has_frame_around()) {
    told_frame(in);
    return add_column(
        in, count, e.name, [this, &e, form](Cursor& at) { object_items(at, e, form.kind); }, columns);
  }
  add_column(
      in, count, e.name, [this, &e](Cursor& at) { element(at, e); }, columns);
}

void ObjectWalk::add_value_column(Cursor& in, std::uint32_t count, std::string_view name, const TypeName& type,
                                  MemberColumns& columns) {
  const bool is_collection = type.kind == TypeName::Kind::sequence || type.kind == TypeName::Kind::map;
  if (is_collection) {
    const Frame frame = told_frame(in);
    if (!frame.member_wise)
      return add_column(
          in, count, name, [this, &type](Cursor& at) { items(at, type, ItemIn::shared_header); }, columns);
    const StreamerInfo* info = value_class(in, type);
    return add_column(
        in, count, name, [this, &type, info](Cursor& at) { member_wise_items(at, type, info); }, columns);
  }
  if (type.kind == TypeName::Kind::std_string || type.kind == TypeName::Kind::bitset) {
    told_frame(in);
    return add_column(
        in, count, name, [this, &type](Cursor& at) { value(at, type, ValueIn::item); }, columns);
  }
  add_column(
      in, count, name, [this, &type](Cursor& at) { value(at, type, ValueIn::member); }, columns);
}

// Finds the beginning of this member in each item by reading it with a visitor that ignores everything.
void ObjectWalk::add_column(Cursor& in, std::uint32_t count, std::string_view name, std::function<void(Cursor&)> read,
                            MemberColumns& columns) {
  MemberColumn column{name, std::move(read), {}};
  NullVisitor nobody;
  ObjectVisitor* outer = std::exchange(visitor_, &nobody);
  const std::size_t around = counters_.size();
  for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
    column.starts.push_back(static_cast<std::uint32_t>(in.position()));
    if (!columns.has_counters) {
      column.read(in);
    } else {
      if (i == columns.counters.size()) columns.counters.emplace_back();
      std::vector<Counter>& own = columns.counters[i];
      counters_.insert(counters_.end(), own.begin(), own.end());
      column.read(in);
      own.assign(counters_.begin() + static_cast<std::ptrdiff_t>(around), counters_.end());
    }
    counters_.resize(around);
  }
  visitor_ = outer;
  columns.all.push_back(std::move(column));
}

// Reports the items one by one. An empty `class_name` means pairs of a map of type `map_type`.
void ObjectWalk::tell_columns(Cursor& in, std::uint32_t count, const MemberColumns& columns,
                              std::string_view class_name, std::string_view map_type) {
  visitor_->begin_list();
  for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
    if (class_name.empty())
      visitor_->begin_pair(map_type);
    else
      visitor_->begin_object(class_name, 0);
    const std::size_t counters = counters_.size();
    for (const MemberColumn& column : columns.all) {
      if (i >= column.starts.size()) break;
      Cursor at = in;
      at.seek(column.starts[i], "member");
      are_there(at, at.position(), at.position());
      if (!column.name.empty()) visitor_->member(column.name);
      column.read(at);
    }
    counters_.resize(counters);
    visitor_->end_object();
  }
  visitor_->end_list();
}

// A collection or string behind a header for several.
void ObjectWalk::one_of_several(Cursor& in, const TypeName& type) {
  if (type.kind == TypeName::Kind::sequence) return items(in, type, ItemIn::shared_header);
  value(in, type, ValueIn::item);
}

// An STL member: a single one, or an array with one header around all.
void ObjectWalk::stl_element(Cursor& outer, const StreamerElement& e) {
  const Prepared& p = prepared(e);
  if (p.shape.empty()) return value(outer, p.type, ValueIn::member);
  const Frame frame = told_frame(outer);
  Cursor in = inside(outer, frame);
  if (frame.member_wise) {
    const StreamerInfo* info = value_class(in, p.type);
    shaped(in, p.shape, [&] { member_wise_items(in, p.type, info); });
  } else {
    shaped(in, p.shape, [&] { one_of_several(in, p.type); });
  }
  leave(outer, in, frame);
}

}  // namespace tfile
