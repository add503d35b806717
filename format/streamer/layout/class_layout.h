// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/basic_type.h"
#include "streamer/info/item_form.h"
#include "streamer/info/own_class.h"
#include "streamer/info/streamer_info.h"
#include "streamer/info/type_name.h"
#include "streamer/layout/program_draft.h"
#include "streamer/layout/read_program.h"
#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

// The presentation of a value: the node that it becomes, before it has a place in a table.
struct Shape {
  enum class Kind : std::uint8_t { number, list, string, record, variant, raw };
  Kind kind = Kind::record;
  std::string name;  // of the member; empty for an item
  std::string title, class_name;
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;  // number
  std::uint32_t slot = 0;            // number: its array; list, string, raw: the ends (string, raw: bytes in slot + 1);
                                     // variant: the tags (index in slot + 1)
  std::vector<Shape> parts;          // list: its item; record: the members; variant: the alternatives
  bool is_optional = false;          // list: of 0 or 1 items
  bool is_map = false;               // list: of keys and values
  std::string reason;                // raw: why it is not decoded
  bool has_columns() const;          // false for a record without members
};

// A program, and the presentation of its slots.
struct Layout {
  Program program;
  Shape shape;
};

// The place of a value decides which header it has (docs/format.md, "Collections").
enum class ValueIn : std::uint8_t {
  member,  // a data member, or the object of a branch: collections have a version header
  item,    // inside a collection: no header
};

// A guess that the descriptions leave open, and the bytes confirm.
struct LayoutGuess {
  bool is_bare = false;       // objects may lack their headers, as hand-written streamers write them
  bool is_last_look = false;  // no further look for classes follows, so objects of unknown classes become bytes
  bool has_enums = false;     // types that nobody describes are enumerations
};

// Compiles values of C++ types into one program. Every function adds instructions to the open block and returns the
// shape of what they read. Errors: unsupported, with a reason for the user.
class LayoutCompiler : public ProgramDraft {
 public:
  // `found`: the classes of objects whose types do not determine them; nullptr before the first look for classes.
  explicit LayoutCompiler(const StreamerInfos& infos, const FoundClasses* found = nullptr, LayoutGuess guess = {})
      : infos_(infos), found_(found), guess_(guess) {}

  Result<Shape> value(const TypeName&, ValueIn);
  // A member by its streamer element, as stored in an unsplit object or in a branch of its own.
  Result<Shape> element(const StreamerElement&);
  // A member of many items, one item after the other. `each` is `repeat` inside a member-wise collection, and `rest` in
  // a branch of a split collection.
  Result<Shape> element_of_items(const StreamerElement&, Op::Kind each);
  // Runs `body` for all items of the enclosing collection; `kind` is `repeat` or `rest`.
  template <class Body>
  Result<Shape> of_items(Op::Kind kind, Body body) {
    Op op;
    op.kind = kind;
    op.with_slot = false;
    auto shape = in_block(op.block, body);
    if (!shape) return shape;
    if (kind == Op::Kind::rest) program_.needs_entry_ends = program_.entry_is_items = true;
    add(op);
    return shape;
  }
  // `T* p; //[n]` in a branch of its own: a flag, then numbers up to the end of the entry.
  Result<Shape> counted_member(const StreamerElement&);
  // `T* p; //[n]` of objects; in a branch of its own: as many as there are. `in_frame`: Op::in_frame.
  Result<Shape> loop(const StreamerElement&, bool in_own_branch, bool in_frame = false);
  // The members of a class one after the other, without a header.
  Result<Shape> members(const StreamerInfo& info) { return members(info, nullptr); }
  // A class with its own header.
  Result<Shape> object(std::string_view class_name, const StreamerInfo* info = nullptr);

  Shape numbers(Dtype, std::vector<std::uint32_t> shape);
  Shape packed(const Packing&, std::vector<std::uint32_t> shape);
  Shape string(Op::Kind = Op::Kind::string);

  // remember_counter: the number read last counts later arrays, under this name. counter: the counter of that name.
  void remember_counter(const std::string& name);
  struct Counter {
    std::string name;
    std::int16_t reg;
    bool of_item;  // it has a value for each item of a member-wise collection
  };
  std::optional<Counter> counter(std::string_view name) const;

  // A list: `op` with new slots for its ends and its hidden count. `body` fills its block and returns the item's shape.
  template <class Body>
  Result<Shape> list(Op op, Body body) {
    op.slot = new_slot({Slot::Kind::ends, 8, 8});
    new_slot({Slot::Kind::hidden, 1, 1});
    auto item = in_block(op.block, body);
    if (!item) return item;
    add(op);
    return list_shape(op.slot, *std::move(item));
  }

 private:
  class RecursionGuard;
  class ClassAround;
  class MemberAround;
  static Shape list_shape(std::uint32_t slot, Shape item);
  template <class ObjectWise, class MemberWise>
  Result<Shape> stl(const TypeName&, ObjectWise, MemberWise);
  Result<Shape> collection(const TypeName&, ValueIn);
  Result<Shape> collection_of(const TypeName&, ValueIn);
  Result<Shape> collection_of_items(const TypeName&, Op::Kind each);
  Result<Shape> item_of(const TypeName& collection, ItemIn);
  Result<Shape> enum_items(int own, const TypeName& collection, ItemIn);
  std::optional<int> enumeration(const TypeName& type) const {
    return tfile::enumeration(infos_, type, guess_.has_enums);
  }
  Shape enum_numbers(EnumItem);
  // `pair`: a pair or a map.
  const StreamerElement* pair_part(const TypeName& pair, std::size_t part) const {
    return tfile::pair_part(infos_, pair.arguments[0], pair.arguments[1], part, guess_.has_enums);
  }
  bool is_left_out(const TypeName& pair, std::size_t part) const {
    return is_left_out_of_pair(infos_, pair.arguments[0], pair.arguments[1], part);
  }
  bool lacks_part(const TypeName& map) const {
    return map.kind == TypeName::Kind::map && (is_left_out(map, 0) || is_left_out(map, 1));
  }
  Result<Shape> members_of_items(const TypeName& collection);
  Result<Shape> value_of_items(const TypeName&, Op::Kind each);
  Result<Shape> pair(const TypeName&, ValueIn);
  Result<Shape> bitset(const TypeName&, ValueIn);
  Result<Shape> fixed_array(const TypeName&, ValueIn);
  Result<Shape> basic(const StreamerElement&, int type, std::vector<std::uint32_t> shape);
  Result<Shape> counted_array(const StreamerElement&);
  Result<Shape> array_of(const StreamerElement&);
  static std::string_view class_of(const StreamerElement&);
  template <class Body>
  Result<Shape> array_items(const StreamerElement&, Body);
  template <class Around>
  Result<Shape> member_wise_collections(Around, const TypeName&);
  Result<Shape> class_members_of_items(const StreamerInfo&, Op::Kind each);
  Result<Shape> body_of_items(const StreamerElement&, Op::Kind each);
  Result<Shape> stl_element(const StreamerElement&);
  Result<Shape> one_of_several(const TypeName&);
  const StreamerInfo* newest_or_like(std::string_view class_name) const;
  Result<Shape> element_body(const StreamerElement&);
  Shape tobject();

  // class_forms.cpp
  struct SlotRange {
    std::uint32_t begin, end;
  };
  Result<Shape> members(const StreamerInfo&, std::vector<SlotRange>* places);
  std::uint16_t other_forms(const StreamerInfo&, const Shape& record, const std::vector<SlotRange>& places);
  Result<> form_members(const StreamerInfo& other, const StreamerInfo& main, const Shape& record,
                        const std::vector<SlotRange>& places);
  void nothing_of(const Shape&);

  // pointer_layout.cpp
  Result<Shape> pointer(const TypeName& pointee);
  Shape bytes_shape(std::string reason);
  Shape other_objects();
  Shape slot_bytes(std::string reason);
  Shape described_by_nobody(std::string_view class_name);
  std::vector<std::string> candidates(const TypeName& pointee, bool& complete);
  struct Alternatives {
    std::vector<PointerChoices::Alternative> blocks;
    std::vector<Shape> shapes;
  };
  Alternatives compile_alternatives(const std::vector<std::string>& classes);
  Result<Shape> pointed_value(const std::string& class_name);

  // own_streamer.cpp: values of the classes in own_class.h
  Result<Shape> own_value(const OwnClass&, std::string_view class_name);
  Shape tref();
  Result<Shape> root_collection(const OwnClass&);
  Result<Shape> numbers_with_head(const OwnClass&);
  Result<Shape> clones_array(const OwnClass&);
  Result<Shape> symmetric_matrix(std::string_view class_name);
  Shape named(Shape, std::string name);
  template <class Body>
  Result<Shape> with_header(Body body) {
    Op op;
    op.kind = Op::Kind::object;
    auto shape = in_block(op.block, body);
    if (shape) add(op);
    return shape;
  }

  const StreamerInfos& infos_;
  const FoundClasses* found_;
  const LayoutGuess guess_;
  std::vector<std::string> classes_around_;  // whose members are being compiled, or to which a pointer points
  std::string place_;                        // names of the members down to the one that is being compiled
  bool is_member_branch_ = false;            // the branch holds one member of all items of a split collection
  int forms_left_ = 64;                      // bounds the work for classes in classes in forms of classes
  int depth_ = 0;
  std::vector<Counter> counters_;  // counters seen so far
};

// The collection as which a class with a collection proxy of its own is stored; nullopt for other classes.
std::optional<TypeName> collection_of_its_own(const StreamerInfo&);

// "Track **" -> "Track".
std::string_view without_pointer(std::string_view type);

// The streamer info that a branch or base means by name, version and checksum; the newest of that name if neither
// matches. nullptr: the file does not describe the class.
const StreamerInfo* find_class(const StreamerInfos&, std::string_view class_name, int version, std::uint32_t checksum);

// The most items of a fixed array. A basket (1 GiB) cannot hold more, and their bytes would overflow 32 bits.
inline constexpr std::uint64_t kArrayMax = 1 << 28;

// The shape of a fixed array member; {} for a single value.
std::vector<std::uint32_t> element_shape(const StreamerElement&);

}  // namespace tfile
