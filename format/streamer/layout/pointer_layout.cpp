// SPDX-License-Identifier: Apache-2.0
// Pointers: the classes to which they may point, and the resulting columns.
#include <algorithm>

#include "streamer/layout/compiler_scopes.h"

namespace tfile {
namespace {

// With more described subclasses than this, the class of a pointer counts as unknown (TObject*): an alternative for
// each would give hundreds of columns without items.
constexpr std::size_t kHeirsMax = 8;
// Tags are signed bytes, and each alternative is a directory in a listing that a user should be able to survey.
constexpr std::size_t kAlternativesMax = 64;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

// The classes that an object behind the pointer may have and that compile here. `complete`: no other class is possible.
std::vector<std::string> LayoutCompiler::candidates(const TypeName& pointee, bool& complete) {
  std::vector<std::string> classes;
  complete = true;
  // A class inside itself would need columns without end. A TClonesArray inside its own items ends with the first
  // entries.
  const auto consider = [&](const std::string& name) {
    if (contains(classes_around_, name) && name != "TClonesArray") {
      complete = false;
    } else if (!contains(classes, name)) {
      classes.push_back(name);
    }
  };
  if (pointee.kind != TypeName::Kind::named_class) return {pointee.text};
  const std::vector<std::string> heirs = infos_.heirs(pointee.text);
  const bool is_known =
      infos_.newest(pointee.text) || array_class_dtype(pointee.text) || has_own_streamer(pointee.text);
  if (pointee.text != "TObject" && heirs.size() <= kHeirsMax) {
    if (is_known) consider(pointee.text);
    for (const std::string& heir : heirs) consider(heir);
    return classes;
  }
  if (const auto found = found_ ? found_->find(place_) : FoundClasses::const_iterator{};
      found_ && found != found_->end()) {
    for (const std::string& name : found->second) consider(name);
  }
  if (classes.size() > kAlternativesMax) classes.resize(kAlternativesMax);
  complete = false;
  return classes;
}

Result<Shape> LayoutCompiler::pointed_value(const std::string& class_name) {
  const TypeName type = parse_type_name(class_name);
  if (type.kind == TypeName::Kind::named_class && !infos_.newest(class_name) && !array_class_dtype(class_name) &&
      !has_own_streamer(class_name))
    return fail(ErrorKind::unsupported, "the file does not describe class " + class_name);
  const MemberAround around(*this, class_name);
  return value(type, ValueIn::member);
}

// The alternatives for those of the classes that compile.
LayoutCompiler::Alternatives LayoutCompiler::compile_alternatives(const std::vector<std::string>& classes) {
  Alternatives made;
  for (const std::string& name : classes) {
    const Mark before = mark();
    PointerChoices::Alternative alternative;
    alternative.class_name = name;
    auto shape = in_block(alternative.block, [&] { return pointed_value(name); });
    if (!shape) {
      back_to(before);
      continue;
    }
    shape->name = name;
    if (shape->class_name.empty()) shape->class_name = name;
    made.blocks.push_back(std::move(alternative));
    made.shapes.push_back(*std::move(shape));
  }
  return made;
}

// The undecoded bytes of pointer slots, or of objects with a byte count.
Shape LayoutCompiler::bytes_shape(std::string reason) {
  Shape shape;
  shape.kind = Shape::Kind::raw;
  shape.slot = new_slot({Slot::Kind::ends, 8, 8});
  new_slot({Slot::Kind::native, 1, 1});
  shape.reason = std::move(reason);
  return shape;
}

Shape LayoutCompiler::slot_bytes(std::string reason) {
  Shape shape = bytes_shape(std::move(reason));
  add({.kind = Op::Kind::slot_bytes, .slot = shape.slot});
  return shape;
}

// If a list of such items is always empty, nothing is lost; an item is an error.
Shape LayoutCompiler::described_by_nobody(std::string_view class_name) {
  Op op;
  op.kind = Op::Kind::unknown;
  op.table = static_cast<std::uint16_t>(program_.unknown.size());
  program_.unknown.push_back("the file does not describe class " + std::string(class_name));
  add(op);
  Shape shape;
  shape.class_name = class_name;
  return shape;
}

Shape LayoutCompiler::other_objects() {
  Shape other = bytes_shape("objects of other classes than in the first entries, or within objects of the same class");
  other.name = "other";
  return other;
}

// One possible class: a list of 0 or 1 objects. Several: tags, index and one alternative per class. If only the first
// entries can give the classes, one more alternative holds the bytes of all other objects.
Result<Shape> LayoutCompiler::pointer(const TypeName& pointee) {
  const RecursionGuard guard(*this);
  TRY_VOID(guard.check());
  bool complete = true;
  const std::vector<std::string> classes = candidates(pointee, complete);
  const Mark before = mark();
  const bool may_be_optional = complete && classes.size() == 1;
  Op op;
  op.kind = Op::Kind::pointer;
  PointerChoices choices;
  choices.is_optional = may_be_optional;
  choices.place = place_;
  op.slot = new_slot(may_be_optional ? Slot{Slot::Kind::ends, 8, 8} : Slot{Slot::Kind::native, 1, 1});
  if (!may_be_optional) new_slot({Slot::Kind::index, 8, 8});
  for (std::size_t i = 0; i < classes.size() + !may_be_optional; ++i) new_slot({Slot::Kind::hidden, 1, 1});
  Alternatives made = compile_alternatives(classes);
  // A TObject* whose classes were not looked for yet has no alternative, but must not become bytes.
  const bool is_open = pointee.text == "TObject" || !complete;
  if (made.blocks.empty() && !is_open) {
    back_to(before);
    return slot_bytes("none of the classes that " + pointee.text + "* may point to can be decoded");
  }
  Shape shape;
  shape.slot = op.slot;
  shape.kind = may_be_optional ? Shape::Kind::list : Shape::Kind::variant;
  shape.is_optional = may_be_optional;
  shape.parts = std::move(made.shapes);
  if (!may_be_optional && (!complete || made.blocks.size() < classes.size())) {
    shape.parts.push_back(other_objects());
    choices.other = static_cast<std::int32_t>(shape.parts.back().slot);
  }
  choices.alternatives = std::move(made.blocks);
  op.table = static_cast<std::uint16_t>(program_.pointers.size());
  program_.pointers.push_back(std::move(choices));
  add(op);
  return shape;
}

}  // namespace tfile
