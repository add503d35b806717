// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/basic_type.h"
#include "streamer/info/own_class.h"
#include "streamer/info/streamer_info.h"
#include "streamer/info/type_name.h"
#include "streamer/layout/read_program.h"
#include "tfile/node.h"
#include "tfile/result.h"

namespace tfile {

// What a value shows as: the node it becomes, before it has a place in a table.
struct Shape {
  enum class Kind : std::uint8_t { number, list, string, record, variant, raw };
  Kind kind = Kind::record;
  std::string name;  // of the member; empty for an item
  std::string title, class_name;
  Dtype dtype = Dtype::u1;
  std::vector<std::uint32_t> shape;  // number
  std::uint32_t slot = 0;            // number: its array; list, string, raw: the ends (string, raw: bytes in slot + 1);
                                     // variant: the tags (index in slot + 1)
  std::vector<Shape> parts;          // list: the item, one; record: the members; variant: the alternatives
  bool is_optional = false;          // list: of 0 or 1 items
  bool is_map = false;               // list: of keys and values
  std::string reason;                // raw: why it is not decoded
  bool has_columns() const;          // not so for a record without members
};

// A program and what its slots show as.
struct Layout {
  Program program;
  Shape shape;
};

// Where a value lies decides how much of a header it has (docs/format.md, "Collections").
enum class ValueIn : std::uint8_t {
  member,  // a data member, or the object of a branch: collections have a version header
  item,    // inside a collection: none
};

// Compiles values of C++ types into one program. Every function adds instructions to the block that is open and gives
// the shape of what they read. Errors: unsupported, with the reason as a user should read it.
class LayoutCompiler {
 public:
  // `found`: the classes of objects where their types do not tell; nullptr while they were not looked for.
  // `bare`: objects may lack their headers, as streamers written by hand leave them out. `last_look`: nobody looks for
  // more classes: what is not known is bytes.
  explicit LayoutCompiler(const StreamerInfos& infos, const FoundClasses* found = nullptr, bool bare = false,
                          bool last_look = false)
      : infos_(infos), found_(found), is_bare_(bare), is_last_look_(last_look) {}

  Result<Shape> value(const TypeName&, ValueIn);
  // A member by its streamer element, as it lies in an unsplit object or in a split branch of its own.
  Result<Shape> element(const StreamerElement&);
  // A member of many items, one item after the other: `each` is `repeat` inside a member-wise collection, `rest` in a
  // branch of a split collection.
  Result<Shape> element_of_items(const StreamerElement&, Op::Kind each);
  // `body` for all items of the enclosing collection: `kind` is `repeat` or `rest`.
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
  // `T* p; //[n]` in a branch of its own: a flag, then numbers to the end of the entry.
  Result<Shape> counted_member(const StreamerElement&);
  // `T* p; //[n]` of objects in a branch of its own: as many as there are.
  Result<Shape> loop(const StreamerElement&, bool in_own_branch);
  // The members of a class one after the other, without a header.
  Result<Shape> members(const StreamerInfo& info) { return members(info, nullptr); }
  // A class with its own header.
  Result<Shape> object(std::string_view class_name, const StreamerInfo* info = nullptr);

  Shape numbers(Dtype, std::vector<std::uint32_t> shape);
  Shape packed(const Packing&, std::vector<std::uint32_t> shape);
  Shape string(Op::Kind = Op::Kind::string);
  void add(Op op) { open_.push_back(op); }
  void need_entry_ends() { program_.needs_entry_ends = true; }

  // The number read last counts arrays that follow, under this name; and its register (none of that name: nullopt).
  void remember_counter(const std::string& name);
  struct Counter {
    std::string name;
    std::int16_t reg;
    bool of_item;  // it counts for each item of a member-wise collection
  };
  std::optional<Counter> counter(std::string_view name) const;

  // A list: `op` with new slots for ends and hidden count, its block filled by `body`, which gives the item's shape.
  template <class Body>
  Result<Shape> list(Op op, Body body) {
    op.slot = new_slot({Slot::Kind::ends, 8, 8});
    new_slot({Slot::Kind::hidden, 1, 1});
    auto item = in_block(op.block, body);
    if (!item) return item;
    add(op);
    return list_shape(op.slot, *std::move(item));
  }

  // Runs `body` with a new block open, then closes it; `block` is what it added.
  template <class Body>
  auto in_block(Block& block, Body body) {
    std::vector<Op> outer = std::move(open_);
    open_.clear();
    auto result = body();
    block = close();
    open_ = std::move(outer);
    return result;
  }

  // The finished program: what is in the open block runs once an entry. The compiler is spent afterwards.
  Program finish();

 private:
  class RecursionGuard;
  class ClassAround;
  class MemberAround;
  Block close();
  std::uint32_t new_slot(Slot);
  // Blocks of two forms of the same members, which fill the same slots. `other` is empty if there is no second form.
  template <class First, class Second>
  Result<Shape> two_forms(Block& block, Block& other, First first, Second second) {
    const std::uint32_t first_slot = next_slot_;
    auto shape = in_block(block, first);
    if (!shape) return shape;
    const std::uint32_t end_slot = next_slot_;
    const std::size_t slot_count = program_.slots.size();
    next_slot_ = first_slot;
    const bool outer_forms_differ = std::exchange(forms_differ_, false);
    const Result<Shape> same = in_block(other, second);
    if (!same || next_slot_ != end_slot || forms_differ_) other = {};
    forms_differ_ = outer_forms_differ;
    next_slot_ = end_slot;
    program_.slots.resize(slot_count);
    return shape;
  }
  static Shape list_shape(std::uint32_t slot, Shape item);
  template <class ObjectWise, class MemberWise>
  Result<Shape> stl(ObjectWise, MemberWise);
  Result<Shape> collection(const TypeName&, ValueIn);
  Result<Shape> collection_of(const TypeName&, ValueIn);
  Result<Shape> collection_of_items(const TypeName&, Op::Kind each);
  Result<Shape> item_of(const TypeName& collection);
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
  Shape slot_bytes(std::string reason);
  Shape described_by_nobody(std::string_view class_name);
  std::vector<std::string> candidates(const TypeName& pointee, bool& complete);
  struct Alternatives {
    std::vector<PointerChoices::Alternative> blocks;
    std::vector<Shape> shapes;
  };
  Alternatives compile_alternatives(const std::vector<std::string>& classes);
  Result<Shape> pointed_value(const std::string& class_name);

  // own_streamer.cpp: values of the classes that own_class.h tells of
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

  // What a failed attempt added is taken back.
  struct Mark {
    std::size_t ops, slots, packings, pointers, clones, unknown, open, forms;
    std::uint32_t next_slot;
  };
  Mark mark() const;
  void back_to(const Mark&);

  const StreamerInfos& infos_;
  const FoundClasses* found_;
  const bool is_bare_, is_last_look_;
  std::vector<std::string> classes_around_;  // whose members are being compiled, or that a pointer points to
  std::string place_;                        // names of the members down to the one that is being compiled
  std::vector<Op> open_;
  Program program_;
  std::uint32_t next_slot_ =
      0;  // below program_.slots.size() while the second of two forms fills the slots of the first
  bool forms_differ_ = false;
  bool is_member_branch_ = false;        // what is compiled is the branch of one member of a split collection's items
  bool passing_over_ = false;            // new slots are for members that the main form of a class does not have...
  std::vector<Slot> passed_over_slots_;  // ...and get their places behind all others in the end
  int forms_left_ = 64;                  // classes in classes in forms of classes must come to an end
  int depth_ = 0;
  std::vector<Counter> counters_;  // met so far
};

// The collection as which a class with a collection proxy of its own is stored; nothing for other classes.
std::optional<TypeName> collection_of_its_own(const StreamerInfo&);

// "Track **" -> "Track".
std::string_view without_pointer(std::string_view type);

// The streamer info that a branch or base means by name, version and checksum; the newest of the name where neither
// helps. nullptr: the file does not describe the class.
const StreamerInfo* find_class(const StreamerInfos&, std::string_view class_name, int version, std::uint32_t checksum);

// Items of one fixed array: more than a basket could hold (1 GiB) is a lie, and their bytes would overflow 32 bits.
inline constexpr std::uint64_t kArrayMax = 1 << 28;

// The shape of a fixed array member; {} for a single value.
std::vector<std::uint32_t> element_shape(const StreamerElement&);

}  // namespace tfile
