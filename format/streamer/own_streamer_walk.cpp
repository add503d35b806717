// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "streamer/object_walk.h"

namespace tfile {
namespace {

// In TObject::fBits of a TClonesArray: its objects are stored member by member.
constexpr std::uint32_t kBypassStreamer = 0x1000;

}  // namespace

// Only the upper triangle is stored, behind the base, whose frame is the only one. ROOT's JSON has it as a list of rows
// under this name.
void ObjectWalk::symmetric_matrix(Cursor& in, std::string_view name, std::uint32_t identity) {
  const std::string base = "TMatrixTBase" + std::string(name.substr(name.find('<')));
  const Frame frame = read_frame(in);
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

ObjectWalk::CollectionReader ObjectWalk::collection_reader(std::string_view name) {
  static constexpr std::pair<std::string_view, CollectionReader> kReaders[] = {
      {"TList", &ObjectWalk::list},
      {"THashList", &ObjectWalk::list},
      {"TSortedList", &ObjectWalk::list},
      {"TObjArray", &ObjectWalk::object_array},
      {"TMap", &ObjectWalk::map},
      {"TClonesArray", &ObjectWalk::clones_array},
      {"TRefArray", &ObjectWalk::ref_array},
      {"TOrdCollection", &ObjectWalk::plain_collection},
      {"THashTable", &ObjectWalk::plain_collection},
      {"TCollection", &ObjectWalk::plain_collection},
      {"TSeqCollection", &ObjectWalk::plain_collection}};
  for (const auto& [class_name, reader] : kReaders) {
    if (class_name == name) return reader;
  }
  return nullptr;
}

// The head that they share: TObject and name, each from some version on; then how many there are.
std::int32_t ObjectWalk::collection_head(Cursor& in, const Frame& frame, std::string_view class_name) {
  if (frame.version > 2) skip_tobject(in);
  collection_name(in, frame.version > 1, class_name);
  return collection_size(in);
}

// One without a name is called as its class is (TCollection::GetName).
void ObjectWalk::collection_name(Cursor& in, bool has_name, std::string_view class_name) {
  const std::string_view name = has_name ? in.string("collection: fName") : std::string_view();
  visitor_->member("name");
  visitor_->text(name.empty() ? class_name : name);
}

std::int32_t ObjectWalk::collection_size(Cursor& in) {
  const auto count = in.big<std::int32_t>("collection: size");
  if (count < 0) in.reject("collection: size");
  return in.failed() ? 0 : count;
}

void ObjectWalk::list(Cursor& outer, std::string_view class_name) {
  const Frame frame = read_frame(outer);
  Cursor in = inside(outer, frame);
  const std::int32_t count = collection_head(in, frame, class_name);
  std::vector<std::string_view> options;
  visitor_->member("arr");
  visitor_->begin_list();
  for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
    pointer(in);
    options.push_back(frame.version > 3 ? in.string("TList: option") : std::string_view());
  }
  visitor_->end_list();
  visitor_->member("opt");
  visitor_->begin_list();
  for (const std::string_view option : options) {
    if (option.empty())
      visitor_->null();
    else
      visitor_->text(option);
  }
  visitor_->end_list();
  leave_object(outer, in, frame);
}

// Empty slots do not count, as in ROOT's loops over an array.
void ObjectWalk::pointer_unless_null(Cursor& in) {
  if (in.left() >= 4 && load_big<std::uint32_t>(in.bytes().data() + in.position()) == 0)
    in.skip(4, "pointer: tag");
  else
    pointer(in);
}

void ObjectWalk::object_array(Cursor& outer, std::string_view class_name) { pointers(outer, class_name, true); }

void ObjectWalk::plain_collection(Cursor& outer, std::string_view class_name) { pointers(outer, class_name, false); }

void ObjectWalk::pointers(Cursor& outer, std::string_view class_name, bool has_lower_bound) {
  const Frame frame = read_frame(outer);
  Cursor in = inside(outer, frame);
  const std::int32_t count = collection_head(in, frame, class_name);
  if (has_lower_bound) in.skip(4, "TObjArray: fLowerBound");
  visitor_->member("arr");
  visitor_->begin_list();
  for (std::int32_t i = 0; i < count && !in.failed(); ++i) pointer_unless_null(in);
  visitor_->end_list();
  leave_object(outer, in, frame);
}

void ObjectWalk::map(Cursor& outer, std::string_view class_name) {
  const Frame frame = read_frame(outer);
  Cursor in = inside(outer, frame);
  const std::int32_t count = collection_head(in, frame, class_name);
  visitor_->member("arr");
  visitor_->begin_list();
  for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
    visitor_->begin_pair("TMap");
    visitor_->member("first");
    pointer(in);
    visitor_->member("second");
    pointer(in);
    visitor_->end_object();
  }
  visitor_->end_list();
  leave_object(outer, in, frame);
}

// What its process id makes of each number is in another object of the file.
void ObjectWalk::ref_array(Cursor& outer, std::string_view class_name) {
  const Frame frame = read_frame(outer);
  Cursor in = inside(outer, frame);
  skip_tobject(in);
  collection_name(in, true, class_name);
  const std::int32_t count = collection_size(in);
  in.skip(4, "TRefArray: fLowerBound");
  visitor_->member("fPID");
  number(in, Dtype::u2);
  visitor_->member("fUIDs");
  numbers(in, {.dtype = Dtype::u4}, static_cast<std::uint64_t>(count), {});
  leave_object(outer, in, frame);
}

void ObjectWalk::clones_array(Cursor& outer, std::string_view class_name) {
  const Frame frame = read_frame(outer);
  Cursor in = inside(outer, frame);
  std::uint32_t bits = 0;
  if (frame.version > 2) {
    Cursor ahead = in;
    const auto version = ahead.big<std::uint16_t>("TObject: version");
    ahead.skip((version & 0x4000) ? 8 : 4, "TObject: fUniqueID");
    bits = ahead.big<std::uint32_t>("TObject: fBits");
    skip_tobject(in);
  }
  collection_name(in, frame.version > 1, class_name);
  std::string_view item = in.string("TClonesArray: class");
  const auto semicolon = item.find(';');
  const int version = semicolon == item.npos ? 0 : std::atoi(std::string(item.substr(semicolon + 1)).c_str());
  item = item.substr(0, semicolon);
  auto count = in.big<std::int32_t>("TClonesArray: size");
  count = count < 0 ? -(count + 1) + 1 : count;  // ROOT's own reading of a negative one
  in.skip(4, "TClonesArray: fLowerBound");
  visitor_->member("arr");
  if (in.failed() || count == 0) {
    no_items();
  } else if (bits & kBypassStreamer) {
    const StreamerInfo* info = find(item, version, 0);
    if (!info) in.reject("TClonesArray: items of a class that the file does not describe");
    items_by_member(in, static_cast<std::uint32_t>(count), info);
  } else {
    visitor_->begin_list();
    for (std::int32_t i = 0; i < count && !in.failed(); ++i) {
      if (in.u1("TClonesArray: flag")) class_value(in, item, 0);
    }
    visitor_->end_list();
  }
  leave_object(outer, in, frame);
}

}  // namespace tfile
