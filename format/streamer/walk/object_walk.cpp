// SPDX-License-Identifier: Apache-2.0
#include "streamer/walk/object_walk.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace tfile {
namespace {

using namespace element_type;

// The depth of objects in objects, bases of bases and collections in collections. Real files stay below 30 (a geometry
// of volumes in volumes), and a file must not decide how deep the stack grows.
constexpr int kDepthMax = 200;
// A class may have more bases and members than its objects have bytes, if all of them are empty. So the work has a
// bound of its own: a number of values per byte, and a minimum.
constexpr std::uint64_t kValuesPerByte = 8, kValuesMin = 100'000;
// The member in which an object says which part of it could not be read.
constexpr std::string_view kUnread = "$unread";

// The name of a class that is built in as its hand-written streamer writes it (builtin_streamer_infos.cpp).
std::string_view without_mark(std::string_view class_name) {
  if (class_name.ends_with('~')) class_name.remove_suffix(1);
  return class_name;
}

std::uint64_t product(std::span<const std::uint32_t> shape) {
  std::uint64_t n = 1;
  for (const std::uint32_t d : shape) n *= d;
  return n;
}

// The member name that JSON has for a base class that is a collection (TBufferJSON::JsonStartElement).
std::string_view member_of_base(const TypeName& base) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"vector", "fVector"},
      {"list", "fList"},
      {"forward_list", "fForwardlist"},
      {"deque", "fDeque"},
      {"map", "fMap"},
      {"multimap", "fMultiMap"},
      {"set", "fSet"},
      {"multiset", "fMultiSet"},
      {"unordered_set", "fUnorderedSet"},
      {"unordered_multiset", "fUnorderedMultiSet"},
      {"unordered_map", "fUnorderedMap"},
      {"unordered_multimap", "fUnorderedMultiMap"},
      {"bitset", "fBitSet"}};
  if (base.kind == TypeName::Kind::std_string || base.kind == TypeName::Kind::tstring) return "fString";
  const std::string_view name = std::string_view(base.text).substr(0, base.text.find('<'));
  for (const auto& [type, member] : kNames) {
    if (type == name) return member;
  }
  return "fBase";
}

// "tp<Int_t>" -> "tp<int>": a member may name its class with typedefs, but streamer infos do not.
std::string with_plain_types(std::string_view name) {
  std::string plain;
  std::size_t begin = 0;
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; };
  while (begin < name.size()) {
    std::size_t end = begin;
    while (end < name.size() && is_letter(name[end])) ++end;
    if (end == begin) ++end;
    const std::string_view word = name.substr(begin, end - begin);
    const BasicType* type = basic_type_of_root(word);
    plain += type ? type->described : word;
    begin = end;
  }
  return plain;
}

}  // namespace

ObjectWalk::ObjectWalk(const StreamerInfos& infos, std::span<const std::byte> payload, std::uint32_t keylen,
                       ObjectVisitor& visitor, const PayloadBytes* partly)
    : infos_(infos),
      origin_(keylen),
      partly_(partly),
      visitor_(&visitor),
      work_left_(payload.size() * kValuesPerByte + kValuesMin) {}

void ObjectWalk::key_object(Cursor& in, std::string_view class_name) {
  // References to the key's own object have this number (TBufferFile::MapObject).
  constexpr std::uint32_t kKeyObject = 1;
  const TypeName type = parse_type_name(class_name);
  if (type.kind == TypeName::Kind::named_class) return class_value(in, class_name, kKeyObject);
  value(in, type, ValueIn::item);
}

bool ObjectWalk::may_go_on(Cursor& in) {
  if (in.failed()) return false;
  if (!are_there(in, in.position(), in.position())) return false;
  if (depth_ > kDepthMax)
    in.reject("object: nested too deeply");
  else if (work_left_ == 0)
    in.reject("object: more values than its bytes can hold");
  else if (visitor_->has_enough())
    in.reject("object: no more of it is needed");
  else
    --work_left_;
  return !in.failed();
}

// A large object has only those bytes in memory that were wanted; all others are zeros. To be called before each
// byte that is read after a value, which may have been long. From `begin` to `end`, and a header behind it.
bool ObjectWalk::are_there(Cursor& in, std::size_t begin, std::size_t end) {
  if (in.failed()) return false;
  for (std::size_t at = begin; partly_ && at <= end; at += PayloadBytes::kWantedAhead) {
    if (partly_->want(at)) continue;
    in.reject("object: its bytes are not there");
    return false;
  }
  return true;
}

std::string_view ObjectWalk::string(Cursor& in, const char* what) {
  const std::size_t begin = in.position();
  if (!are_there(in, begin, begin)) return {};
  const std::string_view text = in.string(what);
  return are_there(in, begin, in.position()) ? text : std::string_view();
}

const ObjectWalk::Prepared& ObjectWalk::prepared(const StreamerElement& e) {
  const auto [place, is_new] = prepared_.try_emplace(&e);
  Prepared& p = place->second;
  if (is_new) {
    p.type = parse_type_name(without_pointer(is_base(e) ? e.name : e.type_name));
    p.shape = element_shape(e);
    const int basic = form_of(e).basic;
    if (basic == kDouble32 || basic == kFloat16) p.packing = parse_packing(e.title, basic == kDouble32);
  }
  return p;
}

Frame ObjectWalk::told_frame(Cursor& in) {
  const std::size_t begin = in.position();
  are_there(in, begin, begin);
  const Frame frame = read_frame(in);
  if (frame.counted && !in.failed()) visitor_->frame(begin, frame.end);
  return frame;
}

// A cursor that ends with the frame, so that damage inside stays inside.
Cursor ObjectWalk::inside(const Cursor& in, const Frame& frame) {
  Cursor inner(frame.counted ? in.bytes().first(frame.end) : in.bytes());
  inner.seek(in.position(), "object");
  if (in.failed()) inner.reject("object");
  return inner;
}

// Moves `in` to the end of the bytes that `inner` read.
void ObjectWalk::leave(Cursor& in, const Cursor& inner, const Frame& frame) {
  if (frame.counted) return in.seek(frame.end, "object: end");
  if (inner.failed()) return in.reject("object");
  in.seek(inner.position(), "object: end");
}

// The same, and notes in the object which bytes were not read.
void ObjectWalk::leave_object(Cursor& in, const Cursor& inner, const Frame& frame) {
  if (inner.failed()) {
    note(inner.error().text);
  } else if (frame.counted && inner.position() != frame.end) {
    note(std::to_string(frame.end - inner.position()) + " bytes more than its members have");
  }
  leave(in, inner, frame);
}

void ObjectWalk::note(std::string_view reason) {
  visitor_->member(kUnread);
  visitor_->unread(reason);
}

void ObjectWalk::class_value(Cursor& in, std::string_view name, std::uint32_t identity) {
  const RecursionGuard guard(*this);
  if (!may_go_on(in)) return visitor_->null();
  if (const OwnClass* own = own_class(name)) return own_value(in, *own, name, identity);
  framed(in, name, identity);
}

const StreamerInfo* ObjectWalk::find(std::string_view name, int version, std::uint32_t checksum) const {
  const auto told = [this](const StreamerInfo* info) {
    if (info != nullptr) visitor_->described_by(*info);
    return info;
  };
  if (name == "TVirtualPad" || name == "TCanvas" || name == "RooRealVar") {
    // RooRealVar::Streamer has written the same since version 4.
    constexpr int kRooRealVarNow = 4;
    const int written = name == "RooRealVar" ? std::min(version, kRooRealVarNow) : version;
    if (const auto* as_written = infos_.find(std::string(name) + '~', written)) return told(as_written);
  }
  if (const auto* info = find_class(infos_, name, version, checksum)) return told(info);
  const std::string plain = with_plain_types(name);
  return plain == name ? nullptr : told(find_class(infos_, plain, version, checksum));
}

void ObjectWalk::framed(Cursor& in, std::string_view name, std::uint32_t identity) {
  const Frame frame = told_frame(in);
  if (in.failed()) return visitor_->null();
  const StreamerInfo* info = find(name, frame.version, frame.checksum);
  const bool is_empty = depth_ > 1 && frame.counted && in.position() == frame.end;
  if (!info && !is_empty) return unknown(in, frame, name);
  Cursor inner = inside(in, frame);
  visitor_->begin_object(info ? without_mark(info->class_name) : name, identity);
  const std::size_t counters = counters_.size();
  if (info) members(inner, *info);
  counters_.resize(counters);
  leave_object(in, inner, frame);
  visitor_->end_object();
}

void ObjectWalk::unknown(Cursor& in, const Frame& frame, std::string_view name) {
  const std::string reason = "the file does not describe class " + std::string(name);
  if (depth_ == 1) refused_ = reason;
  visitor_->unread(reason);
  if (frame.counted)
    in.seek(frame.end, "object: end");
  else
    in.reject("object of an unknown class");
}

void ObjectWalk::members(Cursor& in, const StreamerInfo& info) {
  for (const StreamerElement& e : info.elements) {
    if (!may_go_on(in)) return;
    if (is_base(e)) {
      base(in, e);
    } else {
      visitor_->member(e.name);
      element(in, e);
    }
  }
}

void ObjectWalk::base(Cursor& in, const StreamerElement& e) {
  const RecursionGuard guard(*this);
  if (!may_go_on(in)) return;
  if (const OwnClass* own = own_class(e.name); own && own_members(in, *own)) return;
  if (const TypeName& type = prepared(e).type; type.kind != TypeName::Kind::named_class) {
    visitor_->member(member_of_base(type));
    return value(in, type, ValueIn::member);
  }
  const Frame frame = told_frame(in);
  const StreamerInfo* info = find(e.name, frame.version, frame.checksum);
  Cursor inner = inside(in, frame);
  if (info) {
    members(inner, *info);
    return leave_object(in, inner, frame);
  }
  const bool is_empty = frame.counted && inner.position() == frame.end;
  if (!is_empty) note("the file does not describe base class " + e.name);
  if (!frame.counted) inner.reject("base class");
  leave(in, inner, frame);
}

// fUniqueID, fBits, and the number of a process id if this is a TRef or a TRef can refer to it.
void ObjectWalk::tobject(Cursor& in, bool is_reference) {
  const TObjectParts parts = read_tobject(in);
  visitor_->member("fUniqueID");
  told(parts.unique_id, Dtype::u4);
  visitor_->member("fBits");
  told(parts.bits, Dtype::u4);
  if (!is_reference && !(parts.flags & kIsReferencedBit)) return;
  visitor_->member("fPID");
  told(is_reference ? in.take(2, "TRef: fPID") : parts.process_id, Dtype::u2);
}

// Reports a number that was read; null if reading failed.
void ObjectWalk::told(std::span<const std::byte> stored, Dtype dtype) {
  if (stored.empty()) return visitor_->null();
  visitor_->number({stored, dtype});
}

// A pointer slot.
void ObjectWalk::pointer(Cursor& in) {
  const RecursionGuard guard(*this);
  if (!may_go_on(in)) return visitor_->null();
  visitor_->slot(in.position());
  const ObjectTag tag = read_object_tag(in, origin_);
  if (in.failed() || tag.kind == ObjectTag::Kind::null) return visitor_->null();
  if (tag.kind == ObjectTag::Kind::reference) return visitor_->reference(tag.identity);
  const Frame slot{.counted = tag.counted, .end = tag.end};
  Cursor inner = inside(in, slot);
  const TypeName type = parse_type_name(tag.class_name);
  if (type.kind == TypeName::Kind::named_class)
    class_value(inner, tag.class_name, tag.identity);
  else
    value(inner, type, ValueIn::item);
  leave(in, inner, slot);
}

void ObjectWalk::element(Cursor& in, const StreamerElement& e) {
  const RecursionGuard guard(*this);
  if (!may_go_on(in)) return visitor_->null();
  const ElementForm form = form_of(e);
  switch (form.kind) {
    case ElementForm::Kind::collection:
      return stl_element(in, e);
    case ElementForm::Kind::c_string:
      return long_text(in);
    case ElementForm::Kind::number:
      return form.is_array ? fixed_array(in, e, form.basic) : single(in, e);
    case ElementForm::Kind::counted:
      return counted_array(in, e, form.basic);
    case ElementForm::Kind::loop:
      return loop(in, e);
    default:
      if (form.has_frame_around()) told_frame(in);
      return form.is_array ? object_items(in, e, form.kind) : object_element(in, e, form.kind);
  }
}

// `T a[2][3]` of objects or pointers.
void ObjectWalk::object_items(Cursor& in, const StreamerElement& e, ElementForm::Kind form) {
  shaped(in, prepared(e).shape, [&] { object_element(in, e, form); });
}

void ObjectWalk::object_element(Cursor& in, const StreamerElement& e, ElementForm::Kind form) {
  const TypeName& type = prepared(e).type;
  switch (form) {
    case ElementForm::Kind::tstring:
      return visitor_->text(string(in, "TString"));
    case ElementForm::Kind::tobject:
      return class_value(in, "TObject", 0);
    case ElementForm::Kind::tnamed:
      return class_value(in, "TNamed", 0);
    case ElementForm::Kind::pointer:
      return pointer(in);
    case ElementForm::Kind::object:
      if (type.kind == TypeName::Kind::named_class) return class_value(in, type.text, 0);
      return value(in, type, ValueIn::member);
    case ElementForm::Kind::by_name:
      return value(in, type, ValueIn::member);
    default:
      in.reject("member of an unknown kind");
      return visitor_->null();
  }
}

void ObjectWalk::single(Cursor& in, const StreamerElement& e) {
  if (e.type == kBits) {
    return told(read_object_bits(in).bits, Dtype::u4);
  }
  const auto numbers = number_type(e, e.type);
  if (!numbers) {
    in.reject("member of an unknown kind");
    return visitor_->null();
  }
  if (e.type == kCounter || e.type == kInt) {
    Cursor ahead = in;
    counters_.push_back({e.name, ahead.big<std::int32_t>("counter")});
  }
  number(in, *numbers);
}

void ObjectWalk::fixed_array(Cursor& in, const StreamerElement& e, int basic) {
  const auto type = number_type(e, basic);
  if (!type) {
    in.reject("array of an unknown kind");
    return visitor_->null();
  }
  const std::vector<std::uint32_t>& shape = prepared(e).shape;
  numbers(in, *type, shape.empty() ? 0 : product(shape), shape);
}

// `T* p; //[n]`: a flag (not in old classes), then as many numbers as another member says.
void ObjectWalk::counted_array(Cursor& in, const StreamerElement& e, int basic) {
  const auto count = counter(e.count_name);
  const auto type = number_type(e, basic);
  if (!count || !type || *count < 0) {
    in.reject("counted array");
    return visitor_->null();
  }
  counted_numbers(in, *type, *count, e.has_flag);
}

void ObjectWalk::counted_numbers(Cursor& in, NumberType type, std::int64_t count, bool has_flag) {
  const bool is_there = !has_flag || in.u1("counted array: flag") != 0;
  numbers(in, type, is_there ? static_cast<std::uint64_t>(count) : 0, {});
}

// `T* p; //[n]` of objects, or of pointers to objects.
void ObjectWalk::loop(Cursor& outer, const StreamerElement& e) {
  const Frame frame = told_frame(outer);
  const auto count = counter(e.count_name);
  Cursor in = inside(outer, frame);
  if (!count || *count < 0) in.reject("loop: its counter");
  const std::string& type_name = e.type_name;
  const bool of_pointers = std::count(type_name.begin(), type_name.end(), '*') > 1;
  const TypeName& type = prepared(e).type;
  const std::uint64_t arrays = e.type == kStreamLoop ? 1 : std::max<std::uint64_t>(product(prepared(e).shape), 1);
  if (arrays != 1) visitor_->begin_list();
  for (std::uint64_t array = 0; array < arrays && (array == 0 || !in.failed()); ++array) {
    visitor_->begin_list();
    for (std::int64_t i = 0; !in.failed() && i < *count; ++i) {
      if (of_pointers)
        pointer(in);
      else if (type.kind == TypeName::Kind::named_class)
        class_value(in, type.text, 0);
      else
        value(in, type, ValueIn::item);
    }
    visitor_->end_list();
  }
  if (arrays != 1) visitor_->end_list();
  leave(outer, in, frame);
}

std::optional<std::int64_t> ObjectWalk::counter(std::string_view name) const {
  const auto found =
      std::find_if(counters_.rbegin(), counters_.rend(), [&](const Counter& c) { return c.name == name; });
  if (found == counters_.rend()) return std::nullopt;
  return found->value;
}

std::optional<ObjectWalk::NumberType> ObjectWalk::number_type(const StreamerElement& e, int type) {
  if (type == kDouble32 || type == kFloat16)
    return NumberType{type == kDouble32 ? Dtype::f8 : Dtype::f4, &prepared(e).packing};
  if (type == kBits) return NumberType{Dtype::u4};
  const auto dtype = member_dtype(type, e.type_name);
  if (!dtype) return std::nullopt;
  return NumberType{*dtype, nullptr, type == kChar || type == kLegacyChar};
}

StoredNumbers ObjectWalk::stored(Cursor& in, NumberType type, std::uint64_t count) {
  StoredNumbers numbers{{}, type.dtype, type.packing, type.is_char};
  numbers.bytes = in.take_items(count, numbers.stored_size(), "numbers");
  return numbers;
}

void ObjectWalk::number(Cursor& in, Dtype dtype) { number(in, NumberType{dtype}); }

void ObjectWalk::number(Cursor& in, NumberType type) {
  const StoredNumbers one = stored(in, type, 1);
  if (in.failed()) return visitor_->null();
  visitor_->number(one);
}

void ObjectWalk::numbers(Cursor& in, NumberType type, std::uint64_t count, std::span<const std::uint32_t> shape) {
  const StoredNumbers all = stored(in, type, count);
  if (in.failed()) return visitor_->null();
  visitor_->numbers(all, shape.size() > 1 ? shape : std::span<const std::uint32_t>());
}

void ObjectWalk::array(Cursor& in, Dtype dtype) {
  const auto numbers = read_array(in, dtype);
  if (in.failed()) return visitor_->null();
  visitor_->numbers({numbers, dtype}, {});
}

void ObjectWalk::long_text(Cursor& in) {
  const auto size = in.big<std::int32_t>("char*: length");
  if (size < 0) in.reject("char*: length");
  const std::size_t begin = in.position();
  const auto bytes = in.take(in.failed() ? 0 : static_cast<std::uint64_t>(size), "char*");
  if (!are_there(in, begin, in.position())) return visitor_->null();
  visitor_->text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void ObjectWalk::value(Cursor& in, const TypeName& type, ValueIn place) {
  const RecursionGuard guard(*this);
  if (!may_go_on(in)) return visitor_->null();
  switch (type.kind) {
    case TypeName::Kind::number:
      return number(in, {.dtype = type.dtype, .is_char = is_char(type)});
    case TypeName::Kind::double32:
    case TypeName::Kind::float16:
      return number(in, packed_type(type));
    case TypeName::Kind::std_string:
      if (place == ValueIn::member) told_frame(in);
      return visitor_->text(string(in, "string"));
    case TypeName::Kind::tstring:
      return visitor_->text(string(in, "TString"));
    case TypeName::Kind::sequence:
    case TypeName::Kind::map:
      return collection(in, type, place);
    case TypeName::Kind::pair:
      return pair(in, type);
    case TypeName::Kind::bitset:
      if (place == ValueIn::member) told_frame(in);
      in.skip(4, "bitset: size");
      return numbers(in, {.dtype = Dtype::b1}, type.length, {});
    case TypeName::Kind::array:
      return std_array(in, type, place);
    case TypeName::Kind::pointer:
      return pointer(in);
    case TypeName::Kind::named_class:
      if (const auto own = enumeration(infos_, type, false)) return number(in, enum_item(*own).dtype);
      return class_value(in, type.text, 0);
  }
}

bool ObjectWalk::is_char(const TypeName& type) { return type.text == "char" || type.text == "Char_t"; }

ObjectWalk::NumberType ObjectWalk::packed_type(const TypeName& type) {
  static const Packing kDouble = parse_packing({}, true), kFloat = parse_packing({}, false);
  const bool to_double = type.kind == TypeName::Kind::double32;
  return {to_double ? Dtype::f8 : Dtype::f4, to_double ? &kDouble : &kFloat};
}

std::optional<ObjectWalk::NumberType> ObjectWalk::number_type(const TypeName& type) {
  if (type.kind == TypeName::Kind::number) return NumberType{.dtype = type.dtype, .is_char = is_char(type)};
  if (type.kind == TypeName::Kind::double32 || type.kind == TypeName::Kind::float16) return packed_type(type);
  return std::nullopt;
}

}  // namespace tfile
