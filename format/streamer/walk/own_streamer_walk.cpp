// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/object_walk.h"

namespace tfile {
// Only the upper triangle is stored, after the base, which has the only frame. ROOT's JSON shows it as a list of rows
// under this name.
void ObjectWalk::symmetric_matrix(Cursor& in, std::string_view name, std::uint32_t identity) {
  const std::string base = "TMatrixTBase" + std::string(name.substr(name.find('<')));
  const Frame frame = told_frame(in);
  const StreamerInfo* info = find(base, frame.version, frame.checksum);
  if (!info) return unknown(in, frame, name);
  Cursor inner = inside(in, frame);
  visitor_->begin_object(name, identity);
  const std::size_t counters = counters_.size();
  members(inner, *info);
  leave_object(in, inner, frame);
  const std::int64_t rows = counter("fNrows").value_or(0);
  counters_.resize(counters);
  visitor_->member("_blob");
  visitor_->begin_list();
  for (std::int64_t row = 0; row < rows && may_go_on(in); ++row)
    numbers(in, {base.find("float") != base.npos ? Dtype::f4 : Dtype::f8}, static_cast<std::uint64_t>(rows - row), {});
  visitor_->end_list();
  visitor_->end_object();
}

// The sources of classes that a RooWorkspace brings along (RooWorkspace::CodeRepo::Streamer): of files their name,
// suffix, header and code; of classes their name, base and file; and, since version 2, further headers.
void ObjectWalk::code_repository(Cursor& outer, std::string_view name, std::uint32_t identity) {
  struct Table {
    const char* member;
    std::size_t strings;
    std::uint16_t since;
  };
  static constexpr Table kTables[] = {{"_fmap", 4, 0}, {"_c2fmap", 3, 0}, {"_ehmap", 3, 2}};
  visitor_->begin_object(name, identity);
  const Frame frame = told_frame(outer);
  Cursor in = inside(outer, frame);
  for (const Table& table : kTables) {
    if (frame.version < table.since) continue;
    visitor_->member(table.member);
    visitor_->begin_list();
    const auto count = in.big<std::uint32_t>("RooWorkspace::CodeRepo: number");
    for (std::uint32_t i = 0; i < count && !in.failed() && may_go_on(in); ++i) {
      visitor_->begin_list();
      for (std::size_t k = 0; k < table.strings; ++k) visitor_->text(string(in, "RooWorkspace::CodeRepo"));
      visitor_->end_list();
    }
    visitor_->end_list();
  }
  leave_object(outer, in, frame);
  visitor_->end_object();
}

void ObjectWalk::own_value(Cursor& in, const OwnClass& own, std::string_view name, std::uint32_t identity) {
  if (own.kind == OwnClass::Kind::tstring) return visitor_->text(string(in, "TString"));
  if (own.kind == OwnClass::Kind::array) return array(in, own.dtype);
  if (own.kind == OwnClass::Kind::symmetric_matrix) return symmetric_matrix(in, name, identity);
  if (own.kind == OwnClass::Kind::code_repository) return code_repository(in, name, identity);
  visitor_->begin_object(name, identity);
  own_members(in, own);
  visitor_->end_object();
}

// Reports the members of an object of the class, or of that part of an object. False for kinds that are not objects by
// themselves.
bool ObjectWalk::own_members(Cursor& in, const OwnClass& own) {
  switch (own.kind) {
    case OwnClass::Kind::tobject:
    case OwnClass::Kind::tref:
      return tobject(in, own.kind == OwnClass::Kind::tref), true;
    case OwnClass::Kind::number:
      visitor_->member("fDatime");
      return number(in, own.dtype), true;
    case OwnClass::Kind::array:
      visitor_->member("fArray");
      return array(in, own.dtype), true;
    case OwnClass::Kind::collection:
      return root_collection(in, own), true;
    case OwnClass::Kind::nothing:
      return true;
    default:
      return false;
  }
}

void ObjectWalk::root_collection(Cursor& outer, const OwnClass& own) {
  const Frame frame = told_frame(outer);
  Cursor in = inside(outer, frame);
  const CollectionHead head = read_collection_head(in, own, frame.version);
  const bool is_named_behind = own.name_behind != 0 && frame.version >= own.name_behind;
  if (!is_named_behind) {
    visitor_->member("name");
    visitor_->text(head.name.empty() ? own.name : head.name);  // as TCollection::GetName
  }
  if (own.items == OwnClass::Items::numbers) {
    // The object that these numbers identify depends on the process id, which is another object of the file.
    visitor_->member("fPID");
    told(head.process_id, Dtype::u2);
    visitor_->member("fUIDs");
    numbers(in, {.dtype = own.dtype}, head.count, {});
  } else {
    visitor_->member("arr");
    if (frame.counted && !in.failed()) visitor_->collection(head.count_at, frame.end);
    if (own.items == OwnClass::Items::clones)
      clones(in, head);
    else
      pointers(in, own, head.count, frame.version);
  }
  if (is_named_behind) {
    visitor_->member("_name");
    visitor_->text(string(in, "collection: name"));
  }
  leave_object(outer, in, frame);
}

void ObjectWalk::pointers(Cursor& in, const OwnClass& own, std::uint32_t count, std::uint16_t version) {
  std::vector<std::string_view> options;
  visitor_->begin_list();
  for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
    switch (own.items) {
      case OwnClass::Items::pairs:
        visitor_->begin_pair("TMap");
        visitor_->member("first");
        pointer(in);
        visitor_->member("second");
        pointer(in);
        visitor_->end_object();
        break;
      case OwnClass::Items::optioned_pointers:
        pointer(in);
        options.push_back(own.has_options(version) ? string(in, "TList: option") : std::string_view());
        break;
      default:
        pointer_unless_null(in);
    }
  }
  visitor_->end_list();
  if (own.items != OwnClass::Items::optioned_pointers) return;
  visitor_->member("opt");
  visitor_->begin_list();
  for (const std::string_view option : options) {
    if (option.empty())
      visitor_->null();
    else
      visitor_->text(option);
  }
  visitor_->end_list();
}

// Skips empty slots, as ROOT's loops over an array do.
void ObjectWalk::pointer_unless_null(Cursor& in) {
  if (in.left() >= 4 && load_big<std::uint32_t>(in.bytes().data() + in.position()) == 0)
    in.skip(4, "pointer: tag");
  else
    pointer(in);
}

void ObjectWalk::clones(Cursor& in, const CollectionHead& head) {
  if (head.count == 0) return no_items();
  if (head.tobject.flags & kBypassStreamerBit) {
    const StreamerInfo* info = find(head.items.class_name, head.items.version, 0);
    if (!info) in.reject("TClonesArray: items of a class that the file does not describe");
    return items_by_member(in, head.count, info);
  }
  visitor_->begin_list();
  for (std::uint32_t i = 0; i < head.count && may_go_on(in); ++i) {
    if (in.u1("TClonesArray: flag")) class_value(in, head.items.class_name, 0);
  }
  visitor_->end_list();
}

}  // namespace tfile
