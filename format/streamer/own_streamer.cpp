// SPDX-License-Identifier: Apache-2.0
// ROOT's own classes whose bytes do not follow their StreamerInfo (docs/format.md, "Classes with a streamer of their
// own").
#include "streamer/compiler_scopes.h"

namespace tfile {

Shape LayoutCompiler::named(Shape shape, std::string name) {
  shape.name = std::move(name);
  return shape;
}

std::optional<Result<Shape>> LayoutCompiler::own_streamer(std::string_view name) {
  if (name == "TRef") return Result<Shape>(tref());
  if (name == "TRefArray") return with_header([&]() -> Result<Shape> { return tref_array(); });
  if (name == "TObjArray" || name == "TList" || name == "THashList" || name == "TSortedList") return object_array(name);
  if (name == "TMap") return object_map();
  if (name == "TClonesArray") return clones_array();
  if (name.starts_with("TMatrixTSym<")) return symmetric_matrix(name);
  return std::nullopt;
}

// TObject, whose fUniqueID says to which object, and the number of the process in the file.
Shape LayoutCompiler::tref() {
  Shape record;
  record.class_name = "TRef";
  record.parts.push_back(named(tobject(), "TObject"));
  record.parts.push_back(named(numbers(Dtype::u2, {}), "fPID"));
  return record;
}

Shape LayoutCompiler::tref_array() {
  Shape record;
  record.class_name = "TRefArray";
  record.parts.push_back(named(tobject(), "TObject"));
  record.parts.push_back(named(string(), "fName"));
  record.parts.push_back(named(numbers(Dtype::i4, {}), "fSize"));
  remember_counter("fSize");
  const std::int16_t size = counters_.back().reg;
  counters_.pop_back();
  record.parts.push_back(named(numbers(Dtype::i4, {}), "fLowerBound"));
  record.parts.push_back(named(numbers(Dtype::u2, {}), "fPID"));
  auto ids =
      list({.kind = Op::Kind::counted_list, .reg = size}, [&]() -> Result<Shape> { return numbers(Dtype::u4, {}); });
  record.parts.push_back(named(*std::move(ids), "fUIDs"));
  return record;
}

// TObject and name of a collection, which its node does not show.
void LayoutCompiler::collection_head() {
  const bool outer = std::exchange(unseen_, true);
  tobject();
  string();
  unseen_ = outer;
}

// A list of pointers to objects of any class; in a list, each has an option behind it.
Result<Shape> LayoutCompiler::object_array(std::string_view class_name) {
  const ClassAround around(*this, std::string(class_name));
  const bool is_array = class_name == "TObjArray";
  return with_header([&] {
    collection_head();
    Op op;
    op.kind = Op::Kind::list;
    if (is_array) {
      const bool outer = std::exchange(unseen_, true);
      numbers(Dtype::i4, {});
      unseen_ = outer;
      remember_counter("");
      op.kind = Op::Kind::counted_list;
      op.reg = counters_.back().reg;
      counters_.pop_back();
      add({.kind = Op::Kind::skip, .count = 4});
    }
    return list(op, [&]() -> Result<Shape> {
      TRY(Shape item, pointer(parse_type_name("TObject")));
      if (!is_array) {
        const bool outer = std::exchange(unseen_, true);
        string();
        unseen_ = outer;
      }
      return item;
    });
  });
}

Result<Shape> LayoutCompiler::object_map() {
  const ClassAround around(*this, "TMap");
  return with_header([&] {
    collection_head();
    return list({.kind = Op::Kind::list}, [&]() -> Result<Shape> {
      Shape record;
      for (const char* part : {"key", "value"}) {
        const MemberAround member(*this, part);
        TRY(Shape object, pointer(parse_type_name("TObject")));
        record.parts.push_back(named(std::move(object), part));
      }
      return record;
    });
  });
}

// Its bytes tell the class of its items, so that the first entries must be looked at; where items hold such arrays in
// turn, once more for each level. What they do not tell is bytes.
Result<Shape> LayoutCompiler::clones_array() {
  const ClassAround around(*this, "TClonesArray");
  ClonesChoice choice;
  choice.place = place_;
  if (const auto found = found_ ? found_->find(place_) : FoundClasses::const_iterator{};
      found_ && found != found_->end())
    choice.class_name = *found->second.begin();
  Op op;
  op.kind = Op::Kind::clones;
  if (choice.class_name.empty() && is_last_look_) {
    choice.is_raw = true;
    Shape bytes = bytes_shape("the class of its items is told by none of the first entries, or lies too deep in them");
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
    const StreamerInfo* info = infos_.newest(choice.class_name);
    if (!info) return fail(ErrorKind::unsupported, "the file does not describe class " + choice.class_name);
    TRY(item, two_forms(
                  choice.object_wise, choice.member_wise, [&] { return object(choice.class_name, info); },
                  [&] { return class_members_of_items(*info, Op::Kind::repeat); }));
  }
  op.table = static_cast<std::uint16_t>(program_.clones.size());
  program_.clones.push_back(std::move(choice));
  add(op);
  return list_shape(op.slot, std::move(item));
}

// The header and members of the base alone, then the upper triangle row by row.
Result<Shape> LayoutCompiler::symmetric_matrix(std::string_view class_name) {
  const std::string base = "TMatrixTBase<" + std::string(class_name.substr(class_name.find('<') + 1));
  const StreamerInfo* info = infos_.newest(base);
  const TypeName matrix =
      parse_type_name(std::string("vector<") + std::string(class_name.substr(class_name.find('<') + 1)));
  if (!info || matrix.arguments.empty() || matrix.arguments[0].kind != TypeName::Kind::number)
    return fail(ErrorKind::unsupported, "the file does not describe class " + base);
  const auto outer_counters = counters_.size();
  StreamerInfo counting = *info;  // old descriptions do not say that fNelems counts
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
