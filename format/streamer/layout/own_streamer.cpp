// SPDX-License-Identifier: Apache-2.0
// ROOT's own classes whose bytes do not follow their StreamerInfo (docs/format.md, "Classes with a streamer of their
// own").
#include "streamer/layout/compiler_scopes.h"

namespace tfile {

Shape LayoutCompiler::named(Shape shape, std::string name) {
  shape.name = std::move(name);
  return shape;
}

Result<Shape> LayoutCompiler::own_value(const OwnClass& own, std::string_view name) {
  switch (own.kind) {
    case OwnClass::Kind::tobject:
      return tobject();
    case OwnClass::Kind::tstring:
      return string();
    case OwnClass::Kind::number: {
      Shape shape = numbers(own.dtype, {});
      shape.class_name = own.name;
      return shape;
    }
    case OwnClass::Kind::array:
      return list({.kind = Op::Kind::list}, [&]() -> Result<Shape> { return numbers(own.dtype, {}); });
    case OwnClass::Kind::tref:
      return tref();
    case OwnClass::Kind::collection:
      if (own.name_behind == 0) return root_collection(own);
      break;
    case OwnClass::Kind::nothing:
      return Shape();
    case OwnClass::Kind::symmetric_matrix:
      return symmetric_matrix(name);
    case OwnClass::Kind::code_repository:
      break;
  }
  return fail(ErrorKind::unsupported, "class " + std::string(name) + " is not decoded");
}

// A TObject whose fUniqueID identifies the object, and the number of the process id in the file.
Shape LayoutCompiler::tref() {
  Shape record;
  record.class_name = "TRef";
  record.parts.push_back(named(tobject(), "TObject"));
  record.parts.push_back(named(numbers(Dtype::u2, {}), "fPID"));
  return record;
}

Result<Shape> LayoutCompiler::root_collection(const OwnClass& own) {
  const ClassAround around(*this, std::string(own.name));
  if (own.items == OwnClass::Items::clones) return clones_array(own);
  if (own.items == OwnClass::Items::numbers) return with_header([&] { return numbers_with_head(own); });
  return list({.kind = Op::Kind::collection, .own = &own}, [&]() -> Result<Shape> {
    if (own.items != OwnClass::Items::pairs) return pointer(parse_type_name("TObject"));
    Shape record;
    for (const char* part : {"key", "value"}) {
      const MemberAround member(*this, part);
      TRY(Shape object, pointer(parse_type_name("TObject")));
      record.parts.push_back(named(std::move(object), part));
    }
    return record;
  });
}

// A collection whose head is shown as members.
Result<Shape> LayoutCompiler::numbers_with_head(const OwnClass& own) {
  using Field = OwnClass::Field;
  Shape record;
  record.class_name = own.name;
  const auto add_part = [&](Shape part, const char* name) { record.parts.push_back(named(std::move(part), name)); };
  Op op;
  op.kind = Op::Kind::counted_list;
  for (const auto& [field, since] : own.head) {
    if (field == Field::tobject) add_part(tobject(), "TObject");
    if (field == Field::name) add_part(string(), "fName");
    if (field == Field::lower_bound) add_part(numbers(Dtype::i4, {}), "fLowerBound");
    if (field == Field::process_id) add_part(numbers(Dtype::u2, {}), "fPID");
    if (field != Field::size) continue;
    add_part(numbers(Dtype::i4, {}), "fSize");
    open_.back().reg = op.reg = static_cast<std::int16_t>(program_.registers++);
  }
  TRY(Shape ids, list(op, [&]() -> Result<Shape> { return numbers(own.dtype, {}); }));
  add_part(std::move(ids), "fUIDs");
  return record;
}

// The class of the items is known only from the bytes, so the first entries must be read; if items contain such arrays
// in turn, once more per level. Items whose class stays unknown are shown as bytes.
Result<Shape> LayoutCompiler::clones_array(const OwnClass& own) {
  ClonesChoice choice;
  choice.place = place_;
  const StreamerInfo* info = nullptr;
  if (const auto found = found_ ? found_->find(place_) : FoundClasses::const_iterator{};
      found_ && found != found_->end()) {
    const auto [class_name, version] = ClonesItem::parsed(*found->second.begin());
    choice.class_name = class_name;
    info = infos_.find(class_name, version);
    if (!info || found->second.size() > 1) info = infos_.newest(class_name);
  }
  Op op;
  op.kind = Op::Kind::clones;
  op.own = &own;
  if (choice.class_name.empty() && guess_.is_last_look) {
    choice.is_raw = true;
    Shape bytes = bytes_shape("the first entries do not show the class of its items, or it is nested too deeply");
    op.slot = bytes.slot;
    op.table = static_cast<std::uint16_t>(program_.clones.size());
    program_.clones.push_back(std::move(choice));
    add(op);
    return bytes;
  }
  op.slot = new_slot({Slot::Kind::ends, 8, 8});
  new_slot({Slot::Kind::hidden, 1, 1});
  Shape item;
  if (!choice.class_name.empty()) {
    const MemberAround member(*this, choice.class_name);
    if (!info) return fail(ErrorKind::unsupported, "the file does not describe class " + choice.class_name);
    choice.version = info->version;
    TRY(item, two_forms(
                  choice.object_wise, choice.member_wise, [&] { return object(choice.class_name, info); },
                  [&] { return class_members_of_items(*info, Op::Kind::repeat); }));
  }
  op.table = static_cast<std::uint16_t>(program_.clones.size());
  program_.clones.push_back(std::move(choice));
  add(op);
  return list_shape(op.slot, std::move(item));
}

// Header and members of the base alone, then the upper triangle row by row.
Result<Shape> LayoutCompiler::symmetric_matrix(std::string_view class_name) {
  const std::string base = "TMatrixTBase<" + std::string(class_name.substr(class_name.find('<') + 1));
  const StreamerInfo* info = infos_.newest(base);
  const TypeName matrix =
      parse_type_name(std::string("vector<") + std::string(class_name.substr(class_name.find('<') + 1)));
  if (!info || matrix.arguments.empty() || matrix.arguments[0].kind != TypeName::Kind::number)
    return fail(ErrorKind::unsupported, "the file does not describe class " + base);
  const auto outer_counters = counters_.size();
  StreamerInfo counting = *info;  // old descriptions do not mark fNelems as a counter
  for (StreamerElement& e : counting.elements) {
    if (e.name == "fNelems") e.type = element_type::kCounter;
  }
  Shape record;
  TRY(Shape members_of_base, object(base, &counting));
  const auto size = counter("fNelems");
  if (!size) return fail(ErrorKind::unsupported, base + " has no fNelems");
  counters_.resize(outer_counters);
  record.class_name = class_name;
  record.parts.push_back(named(std::move(members_of_base), base));
  TRY(Shape elements, list({.kind = Op::Kind::triangle_list, .reg = size->reg},
                           [&]() -> Result<Shape> { return numbers(matrix.arguments[0].dtype, {}); }));
  record.parts.push_back(named(std::move(elements), "fElements"));
  return record;
}

}  // namespace tfile
