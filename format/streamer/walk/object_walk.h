// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytes/cursor.h"
#include "bytes/payload_bytes.h"
#include "streamer/info/element_form.h"
#include "streamer/info/object_frame.h"
#include "streamer/info/streamer_info.h"
#include "streamer/info/type_name.h"
#include "streamer/layout/class_layout.h"
#include "streamer/layout/packing.h"
#include "streamer/walk/object_visitor.h"

namespace tfile {

// The walk over one object for visit_object. Every function that reads a value reports exactly one value to the
// visitor, whatever happens; if the cursor has failed, that is null. Special cases are described at the definitions.
class ObjectWalk {
 public:
  ObjectWalk(const StreamerInfos& infos, std::span<const std::byte> payload, std::uint32_t keylen,
             ObjectVisitor& visitor, const PayloadBytes* partly);

  void key_object(Cursor& in, std::string_view class_name);

  // Why the object itself could not be read; empty if it could.
  const std::string& refused() const { return refused_; }

 private:
  // Properties of an element that are the same in all objects.
  struct Prepared {
    TypeName type;
    Packing packing;
    std::vector<std::uint32_t> shape;
  };
  struct Counter {
    std::string_view name;
    std::int64_t value;
  };
  // One member of all items of a member-wise collection.
  struct MemberColumn {
    std::string_view name;  // empty: reports the names of its members itself
    std::function<void(Cursor&)> read;
    std::vector<std::uint32_t> starts;
  };
  struct MemberColumns {
    std::vector<MemberColumn> all;
    bool has_counters = false;                   // a member has as many numbers as another one says
    std::vector<std::vector<Counter>> counters;  // then, of each item
  };
  class RecursionGuard {
   public:
    explicit RecursionGuard(ObjectWalk& walk) : walk_(walk) { ++walk_.depth_; }
    ~RecursionGuard() { --walk_.depth_; }

   private:
    ObjectWalk& walk_;
  };
  struct NumberType {
    Dtype dtype = Dtype::u1;
    const Packing* packing = nullptr;
    bool is_char = false;
  };

  // object_walk.cpp: objects, their bases and members, pointers, numbers, values of C++ types
  bool may_go_on(Cursor& in);
  bool are_there(Cursor& in, std::size_t begin, std::size_t end);
  std::string_view string(Cursor& in, const char* what);
  const Prepared& prepared(const StreamerElement& e);
  Frame told_frame(Cursor& in);
  static Cursor inside(const Cursor& in, const Frame& frame);
  static void leave(Cursor& in, const Cursor& inner, const Frame& frame);
  void leave_object(Cursor& in, const Cursor& inner, const Frame& frame);
  void note(std::string_view reason);
  void class_value(Cursor& in, std::string_view name, std::uint32_t identity);
  const StreamerInfo* find(std::string_view name, int version, std::uint32_t checksum) const;
  void framed(Cursor& in, std::string_view name, std::uint32_t identity);
  void unknown(Cursor& in, const Frame& frame, std::string_view name);
  void members(Cursor& in, const StreamerInfo& info);
  void base(Cursor& in, const StreamerElement& e);
  void tobject(Cursor& in, bool is_reference);
  void told(std::span<const std::byte> stored, Dtype dtype);
  void pointer(Cursor& in);
  void element(Cursor& in, const StreamerElement& e);
  void object_items(Cursor& in, const StreamerElement& e, ElementForm::Kind form);
  void object_element(Cursor& in, const StreamerElement& e, ElementForm::Kind form);
  void single(Cursor& in, const StreamerElement& e);
  void fixed_array(Cursor& in, const StreamerElement& e, int basic);
  void counted_numbers(Cursor& in, NumberType type, std::int64_t count, bool has_flag);
  void counted_array(Cursor& in, const StreamerElement& e, int basic);
  void loop(Cursor& outer, const StreamerElement& e);
  std::optional<std::int64_t> counter(std::string_view name) const;
  std::optional<NumberType> number_type(const StreamerElement& e, int type);
  static StoredNumbers stored(Cursor& in, NumberType type, std::uint64_t count);
  void number(Cursor& in, Dtype dtype);
  void number(Cursor& in, NumberType type);
  void numbers(Cursor& in, NumberType type, std::uint64_t count, std::span<const std::uint32_t> shape);
  void array(Cursor& in, Dtype dtype);
  void long_text(Cursor& in);
  void value(Cursor& in, const TypeName& type, ValueIn place);
  static bool is_char(const TypeName& type);
  static NumberType packed_type(const TypeName& type);
  static std::optional<NumberType> number_type(const TypeName& type);

  // Items of a fixed array, in nested lists according to its dimensions.
  template <class Item>
  void shaped(Cursor& in, std::span<const std::uint32_t> shape, Item item) {
    visitor_->begin_list();
    for (std::uint32_t i = 0; !shape.empty() && i < shape[0]; ++i) {
      if (!may_go_on(in)) break;
      if (shape.size() > 1)
        shaped(in, shape.subspan(1), item);
      else
        item();
    }
    visitor_->end_list();
  }

  // collection_walk.cpp: collections of C++, one item after the other or member by member
  void std_array(Cursor& in, const TypeName& type, ValueIn place);
  void pair(Cursor& outer, const TypeName& type);
  void collection(Cursor& outer, const TypeName& type, ValueIn place);
  void items(Cursor& in, const TypeName& type, ItemIn place);
  void enum_items(Cursor& in, int own, const TypeName& type, ItemIn place, std::uint32_t count);
  void one_of_several(Cursor& in, const TypeName& type);
  void part(Cursor& in, const TypeName& pair, std::size_t which, ValueIn place);
  void no_items();
  const StreamerInfo* value_class(Cursor& in, const TypeName& type);
  void member_wise_items(Cursor& in, const TypeName& type, const StreamerInfo* info);
  void items_by_member(Cursor& in, std::uint32_t count, const StreamerInfo* info);
  void add_class_columns(Cursor& in, std::uint32_t count, const StreamerInfo& info, MemberColumns& columns);
  static bool has_header(const Cursor& in, const StreamerElement& e);
  void add_element_column(Cursor& in, std::uint32_t count, const StreamerElement& e, MemberColumns& columns);
  void add_value_column(Cursor& in, std::uint32_t count, std::string_view name, const TypeName& type,
                        MemberColumns& columns);
  void add_column(Cursor& in, std::uint32_t count, std::string_view name, std::function<void(Cursor&)> read,
                  MemberColumns& columns);
  void add_array_columns(Cursor& in, std::uint32_t count, Dtype dtype, MemberColumns& columns);
  void tell_columns(Cursor& in, std::uint32_t count, const MemberColumns& columns, std::string_view class_name,
                    std::string_view map_type);
  void stl_element(Cursor& outer, const StreamerElement& e);

  // own_streamer_walk.cpp: classes whose streamers are written by hand
  void symmetric_matrix(Cursor& in, std::string_view name, std::uint32_t identity);
  void code_repository(Cursor& outer, std::string_view name, std::uint32_t identity);
  void own_value(Cursor& in, const OwnClass& own, std::string_view name, std::uint32_t identity);
  bool own_members(Cursor& in, const OwnClass& own);
  void root_collection(Cursor& outer, const OwnClass& own);
  void pointers(Cursor& in, const OwnClass& own, std::uint32_t count, std::uint16_t version);
  void pointer_unless_null(Cursor& in);
  void clones(Cursor& in, const CollectionHead& head);

  const StreamerInfos& infos_;
  const std::uint32_t origin_;
  const PayloadBytes* const partly_;  // nullptr: all bytes are there
  ObjectVisitor* visitor_;
  std::uint64_t work_left_;
  int depth_ = 0;
  std::vector<Counter> counters_;
  std::unordered_map<const StreamerElement*, Prepared> prepared_;
  std::string refused_;
};

}  // namespace tfile
