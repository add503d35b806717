// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/class_layout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "streamer/info/element_form.h"
#include "streamer/layout/compiler_scopes.h"

namespace tfile {
namespace {

using namespace element_type;

bool is_integer(Dtype dtype) { return dtype != Dtype::f4 && dtype != Dtype::f8 && dtype != Dtype::b1; }

// The array, whose class shows it as its only member.
Shape array_itself(Shape object, const TypeName& type) {
  Shape array = std::move(object.parts.front());
  array.name.clear();
  array.title.clear();
  array.class_name = type.text;
  return array;
}

TypeName pointee(const StreamerElement& e) { return parse_type_name(without_pointer(e.type_name)); }

std::uint32_t product(const std::vector<std::uint32_t>& shape) {
  std::uint32_t n = 1;
  for (auto d : shape) n *= d;
  return n;
}

}  // namespace

std::string_view without_pointer(std::string_view type) {
  while (!type.empty() && (type.back() == '*' || type.back() == ' ')) type.remove_suffix(1);
  return type;
}

bool Shape::has_columns() const {
  if (kind != Kind::record) return true;
  return std::any_of(parts.begin(), parts.end(), [](const Shape& part) { return part.has_columns(); });
}

const StreamerInfo* find_class(const StreamerInfos& infos, std::string_view class_name, int version,
                               std::uint32_t checksum) {
  if (const auto* info = infos.find(class_name, version); info && (checksum == 0 || info->checksum == checksum))
    return info;
  if (const auto* info = checksum ? infos.find_by_checksum(class_name, checksum) : nullptr) return info;
  if (const auto* info = infos.find(class_name, version)) return info;
  return infos.newest(class_name);
}

std::vector<std::uint32_t> element_shape(const StreamerElement& element) {
  std::vector<std::uint32_t> shape;
  std::uint64_t n = 1;
  for (int i = 0; i < std::min(element.array_dim, 5); ++i) {
    const auto d = static_cast<std::uint64_t>(std::max(element.max_index[static_cast<std::size_t>(i)], 0));
    n *= d;
    if (d == 0 || n > kArrayMax) return {};
    shape.push_back(static_cast<std::uint32_t>(d));
  }
  if (shape.empty() && element.array_length > 0 && static_cast<std::uint64_t>(element.array_length) <= kArrayMax)
    shape.push_back(static_cast<std::uint32_t>(element.array_length));
  return shape;
}

Shape LayoutCompiler::list_shape(std::uint32_t slot, Shape item) {
  Shape shape;
  shape.kind = Shape::Kind::list;
  shape.slot = slot;
  shape.parts.push_back(std::move(item));
  return shape;
}

Shape LayoutCompiler::numbers(Dtype dtype, std::vector<std::uint32_t> dimensions) {
  Op op;
  op.kind = Op::Kind::numbers;
  op.item_size = static_cast<std::uint8_t>(size_of(dtype));
  op.count = product(dimensions);
  const auto kind = dtype == Dtype::b1 ? Slot::Kind::boolean : Slot::Kind::big_endian;
  op.slot = new_slot({kind, op.item_size, op.count * op.item_size});
  add(op);
  Shape shape;
  shape.kind = Shape::Kind::number;
  shape.dtype = dtype;
  shape.shape = std::move(dimensions);
  shape.slot = op.slot;
  return shape;
}

Shape LayoutCompiler::packed(const Packing& packing, std::vector<std::uint32_t> dimensions) {
  Op op;
  op.kind = Op::Kind::packed;
  op.count = product(dimensions);
  op.packing = static_cast<std::uint16_t>(program_.packings.size());
  program_.packings.push_back(packing);
  const std::uint32_t size = packing.to_double ? 8 : 4;
  op.slot = new_slot({Slot::Kind::native, size, op.count * size});
  add(op);
  Shape shape;
  shape.kind = Shape::Kind::number;
  shape.dtype = packing.to_double ? Dtype::f8 : Dtype::f4;
  shape.shape = std::move(dimensions);
  shape.slot = op.slot;
  return shape;
}

Shape LayoutCompiler::string(Op::Kind kind) {
  Op op;
  op.kind = kind;
  op.slot = new_slot({Slot::Kind::ends, 8, 8});
  new_slot({Slot::Kind::native, 1, 1});
  add(op);
  Shape shape;
  shape.kind = Shape::Kind::string;
  shape.slot = op.slot;
  return shape;
}

Shape LayoutCompiler::tobject() {
  Op op;
  op.kind = Op::Kind::tobject;
  op.slot = new_slot({Slot::Kind::big_endian, 4, 4});
  new_slot({Slot::Kind::big_endian, 4, 4});
  add(op);
  Shape shape;
  shape.class_name = "TObject";
  for (std::uint32_t i = 0; i < 2; ++i) {
    Shape member;
    member.kind = Shape::Kind::number;
    member.name = i == 0 ? "fUniqueID" : "fBits";
    member.dtype = Dtype::u4;
    member.slot = op.slot + i;
    shape.parts.push_back(std::move(member));
  }
  return shape;
}

// A collection with a version header, which says at run time which of two forms it has. Both forms have the same
// members in the same order, and fill the same slots.
template <class ObjectWise, class MemberWise>
Result<Shape> LayoutCompiler::stl(const TypeName& type, ObjectWise object_wise, MemberWise member_wise) {
  Op op;
  op.kind = Op::Kind::stl;
  // Without one of the forms, its block stays empty. An entry in that form is then refused, since bytes are left over.
  // The items of a map have both parts where they are stored one by one; ROOT seldom does so below a header.
  auto shape =
      lacks_part(type) ? in_block(op.other, member_wise) : two_forms(op.block, op.other, object_wise, member_wise);
  if (shape) add(op);
  return shape;
}

void LayoutCompiler::remember_counter(const std::string& name) {
  if (open_.empty() || open_.back().kind != Op::Kind::numbers || open_.back().count != 1) return;
  open_.back().reg = static_cast<std::int16_t>(program_.registers++);
  counters_.push_back({name, open_.back().reg, false});
}

std::optional<LayoutCompiler::Counter> LayoutCompiler::counter(std::string_view name) const {
  const auto found =
      std::find_if(counters_.rbegin(), counters_.rend(), [&](const auto& known) { return known.name == name; });
  if (found == counters_.rend()) return std::nullopt;
  return *found;
}

Result<Shape> LayoutCompiler::value(const TypeName& type, ValueIn place) {
  const RecursionGuard guard(*this);
  TRY_VOID(guard.check());
  switch (type.kind) {
    case TypeName::Kind::number:
      return numbers(type.dtype, {});
    case TypeName::Kind::double32:
      return packed(parse_packing({}, true), {});
    case TypeName::Kind::float16:
      return packed(parse_packing({}, false), {});
    case TypeName::Kind::std_string:
      if (place == ValueIn::member) add({.kind = Op::Kind::frame});
      return string();
    case TypeName::Kind::tstring:
      return string();
    case TypeName::Kind::sequence:
    case TypeName::Kind::map:
      return collection(type, place);
    case TypeName::Kind::pair:
      return pair(type, place);
    case TypeName::Kind::bitset:
      return bitset(type, place);
    case TypeName::Kind::array:
      return fixed_array(type, place);
    case TypeName::Kind::pointer:
      return pointer(type.arguments[0]);
    case TypeName::Kind::named_class:
      if (const auto own = enumeration(type)) return enum_numbers(enum_item(*own));
      return object(type.text);
  }
  return fail(ErrorKind::unsupported, type.text + " is not decoded");
}

Result<Shape> LayoutCompiler::collection(const TypeName& type, ValueIn place) {
  TRY(Shape shape, collection_of(type, place));
  shape.is_map = type.kind == TypeName::Kind::map;
  return shape;
}

Result<Shape> LayoutCompiler::collection_of(const TypeName& type, ValueIn place) {
  const ItemIn item_place = place == ValueIn::item ? ItemIn::inner : ItemIn::own_header;
  auto object_wise = [&] { return list({.kind = Op::Kind::list}, [&] { return item_of(type, item_place); }); };
  if (place == ValueIn::item) return object_wise();
  return stl(type, object_wise,
             [&] { return member_wise_collections([](auto collection) { return collection(); }, type); });
}

// The same member of many items, with one header for all of them.
Result<Shape> LayoutCompiler::collection_of_items(const TypeName& type, Op::Kind kind) {
  const auto one = [&] { return list({.kind = Op::Kind::list}, [&] { return item_of(type, ItemIn::shared_header); }); };
  TRY(Shape shape,
      stl(
          type, [&] { return of_items(kind, one); },
          [&] { return member_wise_collections([&](auto collection) { return of_items(kind, collection); }, type); }));
  shape.is_map = type.kind == TypeName::Kind::map;
  return shape;
}

// One item of a collection that is stored item by item.
Result<Shape> LayoutCompiler::item_of(const TypeName& collection, ItemIn place) {
  if (collection.kind != TypeName::Kind::map) {
    if (const auto own = enumeration(collection.arguments[0])) return enum_items(*own, collection, place);
    return value(collection.arguments[0], ValueIn::item);
  }
  Shape record;
  for (std::size_t i = 0; i < 2; ++i) {
    // An enumeration is as long as where it is stored member by member; an array is an object.
    const bool is_array = collection.arguments[i].kind == TypeName::Kind::array;
    const StreamerElement* told = is_array ? nullptr : pair_part(collection, i);
    TRY(Shape part, told ? element(*told) : value(collection.arguments[i], ValueIn::item));
    part.name = i == 0 ? "key" : "value";
    record.parts.push_back(std::move(part));
  }
  return record;
}

Result<Shape> LayoutCompiler::enum_items(int own, const TypeName& collection, ItemIn place) {
  const auto item = enum_item(own, collection, place);
  if (item) return enum_numbers(*item);
  return fail(ErrorKind::unsupported,
              "ROOT does not write all items of " + collection.text +
                  " in collections and arrays, since the enumeration does not have the size of an int");
}

Shape LayoutCompiler::enum_numbers(EnumItem item) {
  program_.is_assumed |= !item.is_certain;
  return numbers(item.dtype, {});
}

// All items of a collection that is stored member by member.
Result<Shape> LayoutCompiler::members_of_items(const TypeName& collection) {
  Shape record;
  const bool is_map = collection.kind == TypeName::Kind::map;
  const TypeName& item = is_map ? collection : collection.arguments[0];
  if (is_map || item.kind == TypeName::Kind::pair) {
    const std::array names = is_map ? std::array{"key", "value"} : std::array{"first", "second"};
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_left_out(item, i)) continue;
      const StreamerElement* told = pair_part(item, i);
      TRY(Shape part,
          told ? element_of_items(*told, Op::Kind::repeat) : value_of_items(item.arguments[i], Op::Kind::repeat));
      part.name = names[i];
      record.parts.push_back(std::move(part));
    }
    return record;
  }
  if (const StreamerInfo* array = array_class(infos_, item)) {
    TRY(record, class_members_of_items(*array, Op::Kind::repeat));
    return array_itself(std::move(record), item);
  }
  if (enumeration(item)) return fail(ErrorKind::unsupported, "enumerations cannot be stored member-wise");
  const StreamerInfo* info = item.kind == TypeName::Kind::named_class ? newest_or_like(item.text) : nullptr;
  if (!info && item.kind == TypeName::Kind::named_class) return described_by_nobody(item.text);
  if (!info) return fail(ErrorKind::unsupported, "the file does not describe class " + item.text);
  return class_members_of_items(*info, Op::Kind::repeat);
}

Result<Shape> LayoutCompiler::class_members_of_items(const StreamerInfo& info, Op::Kind kind) {
  Shape record;
  record.class_name = info.class_name;
  const ClassAround around(*this, info.class_name);
  for (const StreamerElement& e : info.elements) {
    TRY(Shape part, element_of_items(e, kind));
    part.name = e.name;
    record.parts.push_back(std::move(part));
  }
  return record;
}

Result<Shape> LayoutCompiler::value_of_items(const TypeName& type, Op::Kind kind) {
  const RecursionGuard guard(*this);
  TRY_VOID(guard.check());
  switch (type.kind) {
    case TypeName::Kind::sequence:
    case TypeName::Kind::map:
      return collection_of_items(type, kind);
    case TypeName::Kind::std_string:
    case TypeName::Kind::bitset:
      add({.kind = Op::Kind::frame});
      return of_items(kind, [&] { return value(type, ValueIn::item); });
    default:
      return of_items(kind, [&] { return value(type, ValueIn::member); });
  }
}

Result<Shape> LayoutCompiler::pair(const TypeName& type, ValueIn) {
  Op op;
  op.kind = Op::Kind::object;
  auto body = [&]() -> Result<Shape> {
    Shape record;
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_left_out(type, i)) continue;
      const StreamerElement* told = pair_part(type, i);
      TRY(Shape part, told ? element(*told) : value(type.arguments[i], ValueIn::member));
      part.name = i == 0 ? "first" : "second";
      record.parts.push_back(std::move(part));
    }
    return record;
  };
  auto shape = in_block(op.block, body);
  if (!shape) return shape;
  add(op);
  return shape;
}

// The number of bits, then one byte per bit.
Result<Shape> LayoutCompiler::bitset(const TypeName& type, ValueIn place) {
  if (type.length > kArrayMax) return fail(ErrorKind::unsupported, type.text + " is too long");
  if (place == ValueIn::member) add({.kind = Op::Kind::frame});
  add({.kind = Op::Kind::skip, .count = 4});
  return numbers(Dtype::b1, {static_cast<std::uint32_t>(type.length)});
}

Result<Shape> LayoutCompiler::fixed_array(const TypeName& type, ValueIn place) {
  if (type.length > kArrayMax) return fail(ErrorKind::unsupported, type.text + " is too long");
  if (const StreamerInfo* info = array_class(infos_, type)) {
    TRY(Shape record, object(type.text, info));
    return array_itself(std::move(record), type);
  }
  const auto length = static_cast<std::uint32_t>(type.length);
  const TypeName& item = type.arguments[0];
  if (item.kind == TypeName::Kind::number) return numbers(item.dtype, {length});
  return list({.kind = Op::Kind::fixed_list, .count = length}, [&] { return value(item, place); });
}

// The newest description of the class or, if there is none, of another class of the same template: so an empty list of
// such objects still shows its columns.
const StreamerInfo* LayoutCompiler::newest_or_like(std::string_view class_name) const {
  if (const StreamerInfo* info = infos_.newest(class_name)) return info;
  return infos_.of_same_template(class_name);
}

// A class that is read as a collection is described by one element, "This", whose comment begins with "<ITEM>".
std::optional<TypeName> collection_of_its_own(const StreamerInfo& info) {
  if (info.elements.size() != 1 || info.elements[0].name != "This" || !info.elements[0].title.starts_with("<"))
    return std::nullopt;
  const std::string& title = info.elements[0].title;
  int depth = 0;
  for (std::size_t i = 0; i < title.size(); ++i) {
    depth += (title[i] == '<') - (title[i] == '>');
    if (depth > 0) continue;
    TypeName type = parse_type_name(info.class_name);
    if (type.kind == TypeName::Kind::named_class) type = parse_type_name("vector" + title.substr(0, i + 1));
    return type.kind == TypeName::Kind::sequence || type.kind == TypeName::Kind::map ? std::optional(type)
                                                                                     : std::nullopt;
  }
  return std::nullopt;
}

Result<Shape> LayoutCompiler::object(std::string_view class_name, const StreamerInfo* info) {
  const RecursionGuard guard(*this);
  TRY_VOID(guard.check());
  if (const OwnClass* own = own_class(class_name)) return own_value(*own, class_name);
  if (has_own_streamer(class_name, info ? info->version : 0))
    return fail(ErrorKind::unsupported,
                "class " + std::string(class_name) + " is not decoded: it has a custom streamer");
  if (!info) info = newest_or_like(class_name);
  if (!info) return described_by_nobody(class_name);
  if (const auto collection = collection_of_its_own(*info)) return value(*collection, ValueIn::member);
  Op op;
  op.kind = Op::Kind::object;
  op.checksum = info->version == 0 ? info->checksum : 0;
  op.is_bare = guess_.is_bare;
  std::vector<SlotRange> places;
  auto shape = in_block(op.block, [&] { return members(*info, &places); });
  if (!shape) return shape;
  op.forms = other_forms(*info, *shape, places);
  add(op);
  return shape;
}

// `places` receives the slots of each member.
Result<Shape> LayoutCompiler::members(const StreamerInfo& info, std::vector<SlotRange>* places) {
  Shape record;
  record.class_name = info.class_name;
  const ClassAround around(*this, info.class_name);
  for (const StreamerElement& e : info.elements) {
    const std::uint32_t begin = next_slot_;
    TRY(Shape part, element(e));
    if (places) places->push_back({begin, next_slot_});
    part.name = e.name;
    if (part.title.empty()) part.title = e.title;
    record.parts.push_back(std::move(part));
  }
  return record;
}

Result<Shape> LayoutCompiler::element(const StreamerElement& e) {
  const RecursionGuard guard(*this);
  TRY_VOID(guard.check());
  const MemberAround around(*this, e.name);
  const auto counters = static_cast<std::ptrdiff_t>(counters_.size());
  TRY(Shape shape, element_body(e));
  // Counters inside a member count nothing outside of it; those of a base do.
  if (!is_base(e) && !(e.kind == ElementKind::basic && e.array_length == 0))
    counters_.erase(counters_.begin() + counters, counters_.end());
  shape.name = e.name;
  if (shape.class_name.empty()) shape.class_name = e.type_name;
  return shape;
}

Result<Shape> LayoutCompiler::element_body(const StreamerElement& e) {
  const ElementForm form = form_of(e);
  switch (form.kind) {
    case ElementForm::Kind::base: {
      const TypeName base = parse_type_name(e.name);
      if (base.kind != TypeName::Kind::named_class) return value(base, ValueIn::member);
      return object(e.name, find_class(infos_, e.name, e.base_version, e.base_checksum));
    }
    case ElementForm::Kind::collection:
      return stl_element(e);
    case ElementForm::Kind::c_string:
      return string(Op::Kind::long_string);
    case ElementForm::Kind::number:
      return basic(e, form.basic, form.is_array ? element_shape(e) : std::vector<std::uint32_t>());
    case ElementForm::Kind::counted:
      return counted_array(e);
    case ElementForm::Kind::loop:
      return loop(e, false);
    case ElementForm::Kind::tstring:
    case ElementForm::Kind::tobject:
    case ElementForm::Kind::tnamed:
    case ElementForm::Kind::object: {
      if (form.is_array) return array_of(e);
      const TypeName type = parse_type_name(class_of(e));
      return type.kind == TypeName::Kind::named_class ? object(type.text) : value(type, ValueIn::member);
    }
    case ElementForm::Kind::pointer:
      if (!form.is_array) return pointer(pointee(e));
      return array_items(e, [&] { return pointer(pointee(e)); });
    case ElementForm::Kind::by_name:
    case ElementForm::Kind::unknown:
      break;
  }
  return fail(ErrorKind::unsupported,
              e.type_name + " " + e.name + " (element type " + std::to_string(e.type) + ") is not decoded");
}

Result<Shape> LayoutCompiler::basic(const StreamerElement& e, int type, std::vector<std::uint32_t> shape) {
  if (type == kBits && shape.empty()) {
    Shape bits = numbers(Dtype::u4, {});
    open_.back().kind = Op::Kind::bits;
    return bits;
  }
  if (type == kDouble32 || type == kFloat16) return packed(parse_packing(e.title, type == kDouble32), std::move(shape));
  const auto dtype = member_dtype(type, e.type_name);
  if (!dtype) return fail(ErrorKind::unsupported, "element type " + std::to_string(type) + " is not decoded");
  // Most counters have a type of their own; unsigned ones have the type of a number.
  const bool is_counter = shape.empty() && (type == kCounter || (is_integer(*dtype) && infos_.is_counter(e.name)));
  Shape number = numbers(*dtype, std::move(shape));
  if (is_counter) remember_counter(e.name);
  return number;
}

// `T* p; //[n]`: a flag, then as many numbers as the counter says.
Result<Shape> LayoutCompiler::counted_array(const StreamerElement& e) {
  auto reg = counter(e.count_name);
  if (!reg && is_member_branch_) {
    // The member has a branch of its own for all items, and so has its counter.
    program_.item_counts = static_cast<std::int16_t>(program_.registers++);
    reg = Counter{e.count_name, program_.item_counts, true};
  }
  if (!reg)
    return fail(ErrorKind::unsupported, "the counter " + e.count_name + " of " + e.name + " does not precede it");
  Op op;
  op.kind = e.has_flag ? Op::Kind::flagged_list : Op::Kind::counted_list;
  op.reg = reg->reg;
  op.of_item = reg->of_item;
  return list(op, [&] { return basic(e, e.type - kOffsetPointer, {}); });
}

Result<Shape> LayoutCompiler::loop(const StreamerElement& e, bool in_own_branch, bool in_frame) {
  Op op;
  op.kind = Op::Kind::loop;
  op.in_frame = in_frame;
  op.count = product(element_shape(e));
  const auto reg = counter(e.count_name);
  if (reg) {
    op.reg = reg->reg;
    op.of_item = reg->of_item;
  } else if (!in_own_branch) {
    return fail(ErrorKind::unsupported, "the counter " + e.count_name + " of " + e.name + " does not precede it");
  }
  op.slot = new_slot({Slot::Kind::ends, 8, 8});
  new_slot({Slot::Kind::hidden, 1, 1});
  if (op.count > 1) {
    new_slot({Slot::Kind::ends, 8, 8});
    new_slot({Slot::Kind::hidden, 1, 1});
  }
  const TypeName item = parse_type_name(without_pointer(e.type_name));
  // For `T** p; //[n]`, too, the objects themselves follow one another.
  auto body = [&] { return value(item, ValueIn::member); };
  auto shape = in_block(op.block, body);
  if (!shape) return shape;
  add(op);
  if (op.count == 1) return list_shape(op.slot, *std::move(shape));
  return list_shape(op.slot, list_shape(op.slot + 2, *std::move(shape)));
}

Result<Shape> LayoutCompiler::counted_member(const StreamerElement& e) {
  add({.kind = Op::Kind::skip, .count = 1});
  need_entry_ends();
  auto shape = list({.kind = Op::Kind::rest}, [&] { return basic(e, e.type - kOffsetPointer, {}); });
  if (shape) shape->name = e.name;
  return shape;
}

// `T a[n]` of objects, each stored as a single one would be.
Result<Shape> LayoutCompiler::array_of(const StreamerElement& e) {
  if (form_of(e).has_frame_around()) add({.kind = Op::Kind::frame});
  const TypeName item = parse_type_name(class_of(e));
  // In an array, collections have no headers of their own.
  const bool is_class = item.kind == TypeName::Kind::named_class || item.kind == TypeName::Kind::pair;
  return array_items(e, [&] { return value(item, is_class ? ValueIn::member : ValueIn::item); });
}

std::string_view LayoutCompiler::class_of(const StreamerElement& e) {
  const ElementForm form = form_of(e);
  if (form.kind == ElementForm::Kind::tobject) return "TObject";
  if (form.kind == ElementForm::Kind::tnamed) return "TNamed";
  return form.kind == ElementForm::Kind::tstring ? "TString" : without_pointer(e.type_name);
}

template <class Body>
Result<Shape> LayoutCompiler::array_items(const StreamerElement& e, Body body) {
  return list({.kind = Op::Kind::fixed_list, .count = product(element_shape(e))}, body);
}

Result<Shape> LayoutCompiler::stl_element(const StreamerElement& e) {
  const TypeName type = parse_type_name(without_pointer(e.type_name));
  if (e.array_length == 0) return value(type, ValueIn::member);
  return stl(
      type, [&] { return array_items(e, [&] { return one_of_several(type); }); },
      [&] { return member_wise_collections([&](auto collection) { return array_items(e, collection); }, type); });
}

// A collection or string behind a header for several.
Result<Shape> LayoutCompiler::one_of_several(const TypeName& type) {
  if (type.kind == TypeName::Kind::sequence && enumeration(type.arguments[0]))
    return list({.kind = Op::Kind::list}, [&] { return item_of(type, ItemIn::shared_header); });
  return value(type, ValueIn::item);
}

// A member-wise form around one or several collections of the same type: the version of the value class occurs once.
template <class Around>
Result<Shape> LayoutCompiler::member_wise_collections(Around around, const TypeName& type) {
  if (type.kind != TypeName::Kind::sequence && type.kind != TypeName::Kind::map)
    return fail(ErrorKind::unsupported, type.text + " cannot be stored member-wise");
  add({.kind = Op::Kind::value_version});
  return around([&] { return list({.kind = Op::Kind::member_list}, [&] { return members_of_items(type); }); });
}

// Handles members that have one header for all items; and bases without a header, whose members are read one by one.
Result<Shape> LayoutCompiler::body_of_items(const StreamerElement& e, Op::Kind kind) {
  if (e.kind == ElementKind::stl || e.kind == ElementKind::stl_string) {
    const TypeName type = parse_type_name(without_pointer(e.type_name));
    if (e.array_length == 0) return value_of_items(type, kind);
    return stl(
        type, [&] { return of_items(kind, [&] { return array_items(e, [&] { return one_of_several(type); }); }); },
        [&] {
          return member_wise_collections(
              [&](auto collection) { return of_items(kind, [&] { return array_items(e, collection); }); }, type);
        });
  }
  const ElementForm form = form_of(e);
  if (form.has_frame_around()) {
    add({.kind = Op::Kind::frame});
    return of_items(kind, [&] { return array_items(e, [&] { return object(class_of(e)); }); });
  }
  const OwnClass* own = is_base(e) ? own_class(e.name) : nullptr;
  if (own && own->kind == OwnClass::Kind::nothing) return Shape();
  if (is_base(e) && !own && e.name != "TNamed") {  // a TNamed keeps its header
    const StreamerInfo* info = find_class(infos_, e.name, e.base_version, e.base_checksum);
    if (info && !has_own_streamer(e.name, info->version)) return class_members_of_items(*info, kind);
  }
  const bool is_loop = form.kind == ElementForm::Kind::loop;
  is_member_branch_ = kind == Op::Kind::rest && form.kind == ElementForm::Kind::counted;
  const bool in_frame = is_loop && kind == Op::Kind::repeat;  // one header for the arrays of all items
  if (in_frame) add({.kind = Op::Kind::frame});
  auto shape = of_items(kind, [&] { return is_loop ? loop(e, kind == Op::Kind::rest, in_frame) : element_body(e); });
  if (e.kind == ElementKind::basic && kind == Op::Kind::repeat && !counters_.empty() && counters_.back().name == e.name)
    counters_.back().of_item = true;
  return shape;
}

Result<Shape> LayoutCompiler::element_of_items(const StreamerElement& e, Op::Kind kind) {
  const RecursionGuard guard(*this);
  TRY_VOID(guard.check());
  const MemberAround around(*this, e.name);
  Result<Shape> shape = body_of_items(e, kind);
  if (!shape) return shape;
  shape->name = e.name;
  if (shape->class_name.empty()) shape->class_name = e.type_name;
  return shape;
}

}  // namespace tfile
