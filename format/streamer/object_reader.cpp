// SPDX-License-Identifier: Apache-2.0
#include "streamer/object_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytes/cursor.h"
#include "streamer/class_layout.h"
#include "streamer/object_frame.h"
#include "streamer/type_name.h"

namespace tfile {
namespace {

using namespace element_type;

// Objects in objects, bases of bases, collections in collections: real ones stay below 30 (a geometry of volumes in
// volumes), and a file must not choose how deep the stack gets.
constexpr int kDepthMax = 200;
// A class may have more bases and members than an object of it has bytes (all of them empty), so work is bounded by
// itself: so many values for each byte, and some for those without any.
constexpr std::uint64_t kValuesPerByte = 8, kValuesMin = 100'000;
// The name of the member under which an object tells what of it could not be read.
constexpr std::string_view kUnread = "$unread";

constexpr std::uint32_t kIsReferenced = 0x10;     // in TObject::fBits: the number of a process id follows
constexpr std::uint32_t kBypassStreamer = 0x1000; // in those of a TClonesArray: its objects are stored member by member

bool is_base(const StreamerElement& e) { return e.kind == ElementKind::base || e.type == kBase; }

// TArrayC and its kin: n i4, then the numbers, without a header.
std::optional<Dtype> array_class_dtype(std::string_view name) {
  constexpr std::pair<std::string_view, Dtype> kArrays[] = {
      {"TArrayC", Dtype::i1}, {"TArrayS", Dtype::i2},   {"TArrayI", Dtype::i4}, {"TArrayL", Dtype::i8},
      {"TArrayF", Dtype::f4}, {"TArrayL64", Dtype::i8}, {"TArrayD", Dtype::f8}};
  for (const auto& [array, dtype] : kArrays) {
    if (array == name) return dtype;
  }
  return std::nullopt;
}

std::string_view without_pointer(std::string_view type) {
  while (!type.empty() && (type.back() == '*' || type.back() == ' ')) type.remove_suffix(1);
  return type;
}

// Of a class known here by what its hand-written streamer does (builtin_streamer_infos.cpp).
std::string_view without_mark(std::string_view class_name) {
  if (class_name.ends_with('~')) class_name.remove_suffix(1);
  return class_name;
}

std::uint64_t product(std::span<const std::uint32_t> shape) {
  std::uint64_t n = 1;
  for (const std::uint32_t d : shape) n *= d;
  return n;
}

// What stands in JSON for the name of a base class that is a collection (TBufferJSON::JsonStartElement).
std::string_view member_of_base(const TypeName& base) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"vector", "fVector"},        {"list", "fList"},
      {"forward_list", "fForwardlist"}, {"deque", "fDeque"},
      {"map", "fMap"},              {"multimap", "fMultiMap"},
      {"set", "fSet"},              {"multiset", "fMultiSet"},
      {"unordered_set", "fUnorderedSet"}, {"unordered_multiset", "fUnorderedMultiSet"},
      {"unordered_map", "fUnorderedMap"}, {"unordered_multimap", "fUnorderedMultiMap"},
      {"bitset", "fBitSet"}};
  if (base.kind == TypeName::Kind::std_string || base.kind == TypeName::Kind::tstring) return "fString";
  const std::string_view name = std::string_view(base.text).substr(0, base.text.find('<'));
  for (const auto& [type, member] : kNames) {
    if (type == name) return member;
  }
  return "fBase";
}

// "tp<Int_t>" -> "tp<int>": a member may name its class with typedefs, streamer infos do not.
std::string with_plain_types(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kTypedefs[] = {
      {"Int_t", "int"},      {"UInt_t", "unsigned int"},     {"Short_t", "short"}, {"UShort_t", "unsigned short"},
      {"Char_t", "char"},    {"UChar_t", "unsigned char"},   {"Long_t", "long"},   {"ULong_t", "unsigned long"},
      {"Float_t", "float"},  {"Double_t", "double"},         {"Bool_t", "bool"}};
  std::string plain;
  std::size_t begin = 0;
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; };
  while (begin < name.size()) {
    std::size_t end = begin;
    while (end < name.size() && is_letter(name[end])) ++end;
    if (end == begin) ++end;
    std::string_view word = name.substr(begin, end - begin);
    for (const auto& [alias, type] : kTypedefs) {
      if (word == alias) word = type;
    }
    plain += word;
    begin = end;
  }
  return plain;
}

// Tells nobody: for finding where values end.
class Silence final : public ObjectVisitor {
 public:
  void begin_object(std::string_view, std::uint32_t) override {}
  void end_object() override {}
  void member(std::string_view) override {}
  void begin_pair(std::string_view) override {}
  void begin_list() override {}
  void end_list() override {}
  void number(const StoredNumbers&) override {}
  void numbers(const StoredNumbers&, std::span<const std::uint32_t>) override {}
  void text(std::string_view) override {}
  void null() override {}
  void reference(std::uint32_t) override {}
  void unread(std::string_view) override {}
};

// Every function that reads a value tells the visitor of exactly one, whatever happens; a cursor that failed gives null.
class Reader {
 public:
  Reader(const StreamerInfos& infos, std::span<const std::byte> payload, std::uint32_t keylen, ObjectVisitor& visitor)
      : infos_(infos),
        origin_(keylen),
        visitor_(&visitor),
        work_left_(payload.size() * kValuesPerByte + kValuesMin) {}

  void key_object(Cursor& in, std::string_view class_name) {
    // References to the object of the key itself have this number (TBufferFile::MapObject).
    constexpr std::uint32_t kKeyObject = 1;
    const TypeName type = parse_type_name(class_name);
    if (type.kind == TypeName::Kind::named_class) return class_value(in, class_name, kKeyObject);
    value(in, type, Place::item);
  }

  // Why the object itself could not be read; empty if it could.
  const std::string& refused() const { return refused_; }

 private:
  // What of an element does not change from object to object.
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
    std::string_view name;  // empty: tells its members itself
    std::function<void(Cursor&)> read;
    std::vector<std::uint32_t> starts;
  };
  class Deeper {
   public:
    explicit Deeper(Reader& reader) : reader_(reader) { ++reader_.depth_; }
    ~Deeper() { --reader_.depth_; }

   private:
    Reader& reader_;
  };

  bool may_go_on(Cursor& in) {
    if (in.failed()) return false;
    if (depth_ > kDepthMax) in.reject("object: nested too deeply");
    else if (work_left_ == 0) in.reject("object: more values than its bytes can hold");
    else --work_left_;
    return !in.failed();
  }

  const Prepared& prepared(const StreamerElement& e) {
    const auto [place, is_new] = prepared_.try_emplace(&e);
    Prepared& p = place->second;
    if (is_new) {
      p.type = parse_type_name(without_pointer(is_base(e) ? e.name : e.type_name));
      // Items of an enum's name are what fCtype says.
      const bool is_known = p.type.kind != TypeName::Kind::sequence || p.type.arguments[0].kind != TypeName::Kind::named_class;
      if (const auto dtype = basic_dtype(e.stl_content); dtype && !is_known) {
        p.type.arguments[0].kind = TypeName::Kind::number;
        p.type.arguments[0].dtype = *dtype;
      }
      p.shape = element_shape(e);
      const int basic = e.type % kOffsetArray;
      if (e.type < kObject && (basic == kDouble32 || basic == kFloat16)) p.packing = parse_packing(e.title, basic == kDouble32);
    }
    return p;
  }

  // A cursor that ends where the frame does, so that damage inside stays inside.
  static Cursor inside(const Cursor& in, const Frame& frame) {
    Cursor inner(frame.counted ? in.bytes().first(frame.end) : in.bytes());
    inner.seek(in.position(), "object");
    if (in.failed()) inner.reject("object");
    return inner;
  }
  // Goes on behind what `inner` read.
  static void leave(Cursor& in, const Cursor& inner, const Frame& frame) {
    if (frame.counted) return in.seek(frame.end, "object: end");
    if (inner.failed()) return in.reject("object");
    in.seek(inner.position(), "object: end");
  }
  // The same, and says in the object what of it was not read.
  void leave_object(Cursor& in, const Cursor& inner, const Frame& frame) {
    if (inner.failed()) {
      note(inner.error().text);
    } else if (frame.counted && inner.position() != frame.end) {
      note(std::to_string(frame.end - inner.position()) + " bytes that its members do not account for");
    }
    leave(in, inner, frame);
  }
  void note(std::string_view reason) {
    visitor_->member(kUnread);
    visitor_->unread(reason);
  }

  // --- objects ---

  void class_value(Cursor& in, std::string_view name, std::uint32_t identity) {
    const Deeper deeper(*this);
    if (!may_go_on(in)) return visitor_->null();
    if (name == "TString") return visitor_->text(in.string("TString"));
    if (const auto dtype = array_class_dtype(name)) return array(in, *dtype);
    if (name == "TObject" || name == "TRef") {
      visitor_->begin_object(name, identity);
      tobject(in, name == "TRef");
      return visitor_->end_object();
    }
    if (name == "TDatime") {
      visitor_->begin_object(name, identity);
      visitor_->member("fDatime");
      number(in, Dtype::u4);
      return visitor_->end_object();
    }
    if (const auto collection = collection_reader(name)) {
      visitor_->begin_object(name, identity);
      (this->*collection)(in, name);
      return visitor_->end_object();
    }
    if (name.starts_with("TMatrixTSym<")) return symmetric_matrix(in, name, identity);
    framed(in, name, identity);
  }

  const StreamerInfo* find(std::string_view name, int version, std::uint32_t checksum) const {
    if (name == "TVirtualPad" || name == "TCanvas") {
      if (const auto* as_written = infos_.find(std::string(name) + '~', version)) return as_written;
    }
    if (const auto* info = find_class(infos_, name, version, checksum)) return info;
    const std::string plain = with_plain_types(name);
    return plain == name ? nullptr : find_class(infos_, plain, version, checksum);
  }

  void framed(Cursor& in, std::string_view name, std::uint32_t identity) {
    const Frame frame = read_frame(in);
    if (in.failed()) return visitor_->null();
    const StreamerInfo* info = find(name, frame.version, frame.checksum);
    if (!info) return unknown(in, frame, name);
    Cursor inner = inside(in, frame);
    visitor_->begin_object(without_mark(info->class_name), identity);
    const std::size_t counters = counters_.size();
    members(inner, *info);
    counters_.resize(counters);
    leave_object(in, inner, frame);
    visitor_->end_object();
  }

  void unknown(Cursor& in, const Frame& frame, std::string_view name) {
    const std::string reason = "the file does not describe class " + std::string(name);
    if (depth_ == 1) refused_ = reason;
    visitor_->unread(reason);
    if (frame.counted) in.seek(frame.end, "object: end");
    else in.reject("object of an unknown class");
  }

  void members(Cursor& in, const StreamerInfo& info) {
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

  void base(Cursor& in, const StreamerElement& e) {
    const Deeper deeper(*this);
    if (!may_go_on(in)) return;
    if (e.name == "TObject" || e.name == "TRef") return tobject(in, e.name == "TRef");
    if (const auto dtype = array_class_dtype(e.name)) {
      visitor_->member("fArray");
      return array(in, *dtype);
    }
    if (const auto collection = collection_reader(e.name)) return (this->*collection)(in, e.name);
    if (const TypeName& type = prepared(e).type; type.kind != TypeName::Kind::named_class) {
      visitor_->member(member_of_base(type));
      return value(in, type, Place::member);
    }
    const Frame frame = read_frame(in);
    const StreamerInfo* info = find(e.name, frame.version, frame.checksum);
    Cursor inner = inside(in, frame);
    if (info) {
      members(inner, *info);
      return leave_object(in, inner, frame);
    }
    note("the file does not describe base class " + e.name);
    if (!frame.counted) inner.reject("base class");
    leave(in, inner, frame);
  }

  // fUniqueID, fBits, and the number of a process id where a TRef points or can point here.
  void tobject(Cursor& in, bool is_reference) {
    const auto version = in.big<std::uint16_t>("TObject: version");
    if (version & 0x4000) in.skip(4, "TObject: byte count");  // rest of the count, and the version
    visitor_->member("fUniqueID");
    number(in, Dtype::u4);
    visitor_->member("fBits");
    const std::uint32_t bits = bits_of(in);
    if (!is_reference && !(bits & kIsReferenced)) return;
    visitor_->member("fPID");
    number(in, Dtype::u2);
  }

  std::uint32_t bits_of(Cursor& in) {
    Cursor ahead = in;
    const auto bits = ahead.big<std::uint32_t>("TObject: fBits");
    number(in, Dtype::u4);
    return bits;
  }

  // Only the upper triangle is stored, behind the base, whose frame is the only one. ROOT's JSON has it as a list of rows
  // under this name.
  void symmetric_matrix(Cursor& in, std::string_view name, std::uint32_t identity) {
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

  // A pointer slot.
  void pointer(Cursor& in) {
    const Deeper deeper(*this);
    if (!may_go_on(in)) return visitor_->null();
    const ObjectTag tag = read_object_tag(in, origin_);
    if (in.failed() || tag.kind == ObjectTag::Kind::null) return visitor_->null();
    if (tag.kind == ObjectTag::Kind::reference) return visitor_->reference(tag.identity);
    const Frame slot{.counted = tag.counted, .end = tag.end};
    Cursor inner = inside(in, slot);
    const TypeName type = parse_type_name(tag.class_name);
    if (type.kind == TypeName::Kind::named_class) class_value(inner, tag.class_name, tag.identity);
    else value(inner, type, Place::item);
    leave(in, inner, slot);
  }

  // --- ROOT's collections, which write their content by hand ---

  using CollectionReader = void (Reader::*)(Cursor&, std::string_view class_name);
  static CollectionReader collection_reader(std::string_view name) {
    static constexpr std::pair<std::string_view, CollectionReader> kReaders[] = {
        {"TList", &Reader::list},          {"THashList", &Reader::list},
        {"TSortedList", &Reader::list},    {"TObjArray", &Reader::object_array},
        {"TMap", &Reader::map},            {"TClonesArray", &Reader::clones_array},
        {"TRefArray", &Reader::ref_array}, {"TOrdCollection", &Reader::plain_collection},
        {"THashTable", &Reader::plain_collection}, {"TCollection", &Reader::plain_collection},
        {"TSeqCollection", &Reader::plain_collection}};
    for (const auto& [class_name, reader] : kReaders) {
      if (class_name == name) return reader;
    }
    return nullptr;
  }

  // The head that they share: TObject and name, each from some version on; then how many there are.
  std::int32_t collection_head(Cursor& in, const Frame& frame, std::string_view class_name) {
    if (frame.version > 2) skip_tobject(in);
    collection_name(in, frame.version > 1, class_name);
    return collection_size(in);
  }
  // One without a name is called as its class is (TCollection::GetName).
  void collection_name(Cursor& in, bool has_name, std::string_view class_name) {
    const std::string_view name = has_name ? in.string("collection: fName") : std::string_view();
    visitor_->member("name");
    visitor_->text(name.empty() ? class_name : name);
  }
  static std::int32_t collection_size(Cursor& in) {
    const auto count = in.big<std::int32_t>("collection: size");
    if (count < 0) in.reject("collection: size");
    return in.failed() ? 0 : count;
  }

  void list(Cursor& outer, std::string_view class_name) {
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
      if (option.empty()) visitor_->null();
      else visitor_->text(option);
    }
    visitor_->end_list();
    leave_object(outer, in, frame);
  }

  // Empty slots do not count, as in ROOT's loops over an array.
  void pointer_unless_null(Cursor& in) {
    if (in.left() >= 4 && load_big<std::uint32_t>(in.bytes().data() + in.position()) == 0)
      in.skip(4, "pointer: tag");
    else
      pointer(in);
  }

  void object_array(Cursor& outer, std::string_view class_name) { pointers(outer, class_name, true); }
  void plain_collection(Cursor& outer, std::string_view class_name) { pointers(outer, class_name, false); }
  void pointers(Cursor& outer, std::string_view class_name, bool has_lower_bound) {
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

  void map(Cursor& outer, std::string_view class_name) {
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
  void ref_array(Cursor& outer, std::string_view class_name) {
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

  void clones_array(Cursor& outer, std::string_view class_name) {
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

  // --- members ---

  void element(Cursor& in, const StreamerElement& e) {
    const Deeper deeper(*this);
    if (!may_go_on(in)) return visitor_->null();
    const int type = e.type;
    if (e.kind == ElementKind::stl || e.kind == ElementKind::stl_string) return stl_element(in, e);
    if (type == kCharStar) return long_text(in);
    if (type > kBase && type < kOffsetArray) return single(in, e);
    if (type > kOffsetArray && type < kOffsetPointer) return fixed_array(in, e);
    if (type > kOffsetPointer && type < kObject) return counted_array(in, e);
    if (type == kStreamLoop || type == kStreamLoop + kOffsetArray) return loop(in, e);
    if (type == kStreamer) return value(in, prepared(e).type, Place::member);
    if (type > kObject + kOffsetArray - 1 && type <= kStlp + kOffsetArray) return object_items(in, e);
    object_element(in, e, type);
  }

  void object_element(Cursor& in, const StreamerElement& e, int type) {
    switch (type) {
      case kTString:
        return visitor_->text(in.string("TString"));
      case kTObject:
        return class_value(in, "TObject", 0);
      case kTNamed:
        return class_value(in, "TNamed", 0);
      case kObjectP:
      case kAnyP:
      case kAnyPnoVT:
        return pointer(in);
      case kObject:
      case kAny:
      case kObjectp:
      case kAnyp: {
        const TypeName& class_type = prepared(e).type;
        if (class_type.kind == TypeName::Kind::named_class) return class_value(in, class_type.text, 0);
        return value(in, class_type, Place::member);
      }
      case kStlp:
        return value(in, prepared(e).type, Place::member);
      default:
        in.reject("member of an unknown kind");
        return visitor_->null();
    }
  }

  // `T a[2][3]` of objects or pointers. Of some classes, one header stands around all items.
  void object_items(Cursor& in, const StreamerElement& e) {
    const int type = e.type - kOffsetArray;
    if (type == kTString || type == kTObject || type == kTNamed) read_frame(in);
    shaped(in, prepared(e).shape, [&] { object_element(in, e, type); });
  }

  // Items of a fixed array, in lists as its dimensions say.
  template <class Item>
  void shaped(Cursor& in, std::span<const std::uint32_t> shape, Item item) {
    visitor_->begin_list();
    for (std::uint32_t i = 0; !shape.empty() && i < shape[0]; ++i) {
      if (!may_go_on(in)) break;
      if (shape.size() > 1) shaped(in, shape.subspan(1), item);
      else item();
    }
    visitor_->end_list();
  }

  void single(Cursor& in, const StreamerElement& e) {
    if (e.type == kBits) {
      if (bits_of(in) & kIsReferenced) in.skip(2, "TObject: process id");
      return;
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

  void fixed_array(Cursor& in, const StreamerElement& e) {
    const auto type = number_type(e, e.type - kOffsetArray);
    if (!type) {
      in.reject("array of an unknown kind");
      return visitor_->null();
    }
    const std::vector<std::uint32_t>& shape = prepared(e).shape;
    numbers(in, *type, shape.empty() ? 0 : product(shape), shape);
  }

  // `T* p; //[n]`: a flag, then as many numbers as another member said.
  void counted_array(Cursor& in, const StreamerElement& e) {
    const auto count = counter(e.count_name);
    const auto type = number_type(e, e.type - kOffsetPointer);
    if (!count || !type || *count < 0) {
      in.reject("counted array");
      return visitor_->null();
    }
    const bool is_there = in.u1("counted array: flag") != 0;
    numbers(in, *type, is_there ? static_cast<std::uint64_t>(*count) : 0, {});
  }

  // `T* p; //[n]` of objects, or of pointers to objects.
  void loop(Cursor& outer, const StreamerElement& e) {
    const Frame frame = read_frame(outer);
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
        if (of_pointers) pointer(in);
        else if (type.kind == TypeName::Kind::named_class) class_value(in, type.text, 0);
        else value(in, type, Place::item);
      }
      visitor_->end_list();
    }
    if (arrays != 1) visitor_->end_list();
    leave(outer, in, frame);
  }

  std::optional<std::int64_t> counter(std::string_view name) const {
    const auto found = std::find_if(counters_.rbegin(), counters_.rend(), [&](const Counter& c) { return c.name == name; });
    if (found == counters_.rend()) return std::nullopt;
    return found->value;
  }

  // --- numbers and text ---

  struct NumberType {
    Dtype dtype = Dtype::u1;
    const Packing* packing = nullptr;
    bool is_char = false;
  };

  std::optional<NumberType> number_type(const StreamerElement& e, int type) {
    if (type == kDouble32 || type == kFloat16)
      return NumberType{type == kDouble32 ? Dtype::f8 : Dtype::f4, &prepared(e).packing};
    if (type == kCounter) return NumberType{Dtype::i4};
    if (type == kBits) return NumberType{Dtype::u4};
    const auto dtype = basic_dtype(type);
    if (!dtype) return std::nullopt;
    return NumberType{*dtype, nullptr, type == kChar || type == kLegacyChar};
  }

  static StoredNumbers stored(Cursor& in, NumberType type, std::uint64_t count) {
    StoredNumbers numbers{{}, type.dtype, type.packing, type.is_char};
    numbers.bytes = in.take_items(count, numbers.stored_size(), "numbers");
    return numbers;
  }
  void number(Cursor& in, Dtype dtype) { number(in, NumberType{dtype}); }
  void number(Cursor& in, NumberType type) {
    const StoredNumbers one = stored(in, type, 1);
    if (in.failed()) return visitor_->null();
    visitor_->number(one);
  }
  void numbers(Cursor& in, NumberType type, std::uint64_t count, std::span<const std::uint32_t> shape) {
    const StoredNumbers all = stored(in, type, count);
    if (in.failed()) return visitor_->null();
    visitor_->numbers(all, shape.size() > 1 ? shape : std::span<const std::uint32_t>());
  }
  void array(Cursor& in, Dtype dtype) {
    const auto count = in.big<std::int32_t>("TArray: fN");
    if (count < 0) in.reject("TArray: fN");
    numbers(in, {.dtype = dtype}, in.failed() ? 0 : static_cast<std::uint64_t>(count), {});
  }
  void long_text(Cursor& in) {
    const auto size = in.big<std::int32_t>("char*: length");
    if (size < 0) in.reject("char*: length");
    const auto bytes = in.take(in.failed() ? 0 : static_cast<std::uint64_t>(size), "char*");
    visitor_->text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // --- C++ types ---

  void value(Cursor& in, const TypeName& type, Place place) {
    const Deeper deeper(*this);
    if (!may_go_on(in)) return visitor_->null();
    switch (type.kind) {
      case TypeName::Kind::number:
        return number(in, {.dtype = type.dtype, .is_char = is_char(type)});
      case TypeName::Kind::double32:
      case TypeName::Kind::float16:
        return number(in, packed_type(type));
      case TypeName::Kind::std_string:
        if (place == Place::member) read_frame(in);
        return visitor_->text(in.string("string"));
      case TypeName::Kind::tstring:
        return visitor_->text(in.string("TString"));
      case TypeName::Kind::sequence:
      case TypeName::Kind::map:
        return collection(in, type, place);
      case TypeName::Kind::pair:
        return pair(in, type);
      case TypeName::Kind::bitset:
        if (place == Place::member) read_frame(in);
        in.skip(4, "bitset: size");
        return numbers(in, {.dtype = Dtype::b1}, type.length, {});
      case TypeName::Kind::array:
        return std_array(in, type, place);
      case TypeName::Kind::pointer:
        return pointer(in);
      case TypeName::Kind::named_class:
        return class_value(in, type.text, 0);
    }
  }

  static bool is_char(const TypeName& type) { return type.text == "char" || type.text == "Char_t"; }
  static NumberType packed_type(const TypeName& type) {
    static const Packing kDouble = parse_packing({}, true), kFloat = parse_packing({}, false);
    const bool to_double = type.kind == TypeName::Kind::double32;
    return {to_double ? Dtype::f8 : Dtype::f4, to_double ? &kDouble : &kFloat};
  }
  static std::optional<NumberType> number_type(const TypeName& type) {
    if (type.kind == TypeName::Kind::number) return NumberType{.dtype = type.dtype, .is_char = is_char(type)};
    if (type.kind == TypeName::Kind::double32 || type.kind == TypeName::Kind::float16) return packed_type(type);
    return std::nullopt;
  }

  void std_array(Cursor& in, const TypeName& type, Place place) {
    if (const auto number = number_type(type.arguments[0])) return numbers(in, *number, type.length, {});
    visitor_->begin_list();
    for (std::uint64_t i = 0; i < type.length && may_go_on(in); ++i) value(in, type.arguments[0], place);
    visitor_->end_list();
  }

  void pair(Cursor& outer, const TypeName& type) {
    const Frame frame = read_frame(outer);
    Cursor in = inside(outer, frame);
    visitor_->begin_object(type.text, 0);
    for (std::size_t i = 0; i < 2 && may_go_on(in); ++i) {
      visitor_->member(i == 0 ? "first" : "second");
      value(in, type.arguments[i], Place::member);
    }
    leave_object(outer, in, frame);
    visitor_->end_object();
  }

  void collection(Cursor& outer, const TypeName& type, Place place) {
    if (place == Place::item) return items(outer, type);
    const Frame frame = read_frame(outer);
    Cursor in = inside(outer, frame);
    if (in.failed()) {
      visitor_->null();
    } else if (frame.member_wise) {
      const StreamerInfo* info = value_class(in, type);
      member_wise_items(in, type, info);
    } else {
      items(in, type);
    }
    leave(outer, in, frame);
  }

  // Behind the number of items: an item after the other.
  void items(Cursor& in, const TypeName& type) {
    const auto count = in.big<std::uint32_t>("collection: size");
    if (type.kind == TypeName::Kind::sequence) {
      if (const auto number = number_type(type.arguments[0])) return numbers(in, *number, in.failed() ? 0 : count, {});
    }
    visitor_->begin_list();
    for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
      if (type.kind == TypeName::Kind::sequence) {
        value(in, type.arguments[0], Place::item);
        continue;
      }
      visitor_->begin_pair(type.text);
      visitor_->member("first");
      value(in, type.arguments[0], Place::item);
      visitor_->member("second");
      value(in, type.arguments[1], Place::item);
      visitor_->end_object();
    }
    visitor_->end_list();
  }

  void no_items() {
    visitor_->begin_list();
    visitor_->end_list();
  }

  // --- collections that are stored member by member ---

  // Over the version of the value class; the class, where it is one.
  const StreamerInfo* value_class(Cursor& in, const TypeName& type) {
    const auto version = in.big<std::uint16_t>("collection: version of the value class");
    const auto checksum = version == 0 ? in.big<std::uint32_t>("collection: checksum of the value class") : 0;
    if (type.kind == TypeName::Kind::map || type.arguments.empty()) return nullptr;
    if (type.arguments[0].kind != TypeName::Kind::named_class) return nullptr;
    return find(type.arguments[0].text, version, checksum);
  }

  void member_wise_items(Cursor& in, const TypeName& type, const StreamerInfo* info) {
    const auto count = in.big<std::uint32_t>("collection: size");
    if (in.failed() || count == 0) return no_items();
    const bool is_map = type.kind == TypeName::Kind::map;
    const TypeName& item = is_map ? type : type.arguments[0];
    if (!is_map && item.kind != TypeName::Kind::pair) {
      if (!info) in.reject("collection: its class is not described");
      return items_by_member(in, count, info);
    }
    std::vector<MemberColumn> columns;
    for (std::size_t i = 0; i < 2; ++i) {
      add_value_column(in, count, i == 0 ? "first" : "second", item.arguments[i], columns);
    }
    tell_columns(in, count, columns, is_map ? std::string_view() : item.text, type.text);
  }

  void items_by_member(Cursor& in, std::uint32_t count, const StreamerInfo* info) {
    if (in.failed()) return visitor_->null();
    std::vector<MemberColumn> columns;
    add_class_columns(in, count, *info, columns);
    tell_columns(in, count, columns, info->class_name, {});
  }

  void add_class_columns(Cursor& in, std::uint32_t count, const StreamerInfo& info, std::vector<MemberColumn>& columns) {
    const Deeper deeper(*this);
    for (const StreamerElement& e : info.elements) {
      if (!may_go_on(in)) return;
      if (!is_base(e)) {
        add_element_column(in, count, e, columns);
        continue;
      }
      const StreamerInfo* above = find(e.name, e.base_version, e.base_checksum);
      if (above && !has_header(in, e) && e.name != "TObject" && !array_class_dtype(e.name) && !collection_reader(e.name)) {
        add_class_columns(in, count, *above, columns);
      } else {
        add_column(in, count, {}, [this, &e](Cursor& at) { base(at, e); }, columns);
      }
    }
  }

  // Whether the base of each item has its own header, as TNamed always has: a byte count, and the version of the base.
  static bool has_header(const Cursor& in, const StreamerElement& e) {
    if (e.type == kTNamed) return true;
    Cursor ahead = in;
    const Frame frame = read_frame(ahead);
    return !ahead.failed() && frame.counted && frame.version == e.base_version;
  }

  // A collection has one header for all items; so do strings in some arrays.
  void add_element_column(Cursor& in, std::uint32_t count, const StreamerElement& e, std::vector<MemberColumn>& columns) {
    const Prepared& p = prepared(e);
    if ((e.kind == ElementKind::stl || e.kind == ElementKind::stl_string) && p.shape.empty())
      return add_value_column(in, count, e.name, p.type, columns);
    if (e.type == kTString + kOffsetArray || e.type == kTNamed + kOffsetArray || e.type == kTObject + kOffsetArray) {
      read_frame(in);
      const int type = e.type - kOffsetArray;
      return add_column(in, count, e.name,
                        [this, &e, &p, type](Cursor& at) { shaped(at, p.shape, [&] { object_element(at, e, type); }); },
                        columns);
    }
    add_column(in, count, e.name, [this, &e](Cursor& at) { element(at, e); }, columns);
  }

  void add_value_column(Cursor& in, std::uint32_t count, std::string_view name, const TypeName& type,
                        std::vector<MemberColumn>& columns) {
    const bool is_collection = type.kind == TypeName::Kind::sequence || type.kind == TypeName::Kind::map;
    if (is_collection) {
      const Frame frame = read_frame(in);
      if (!frame.member_wise)
        return add_column(in, count, name, [this, &type](Cursor& at) { items(at, type); }, columns);
      const StreamerInfo* info = value_class(in, type);
      return add_column(in, count, name, [this, &type, info](Cursor& at) { member_wise_items(at, type, info); }, columns);
    }
    if (type.kind == TypeName::Kind::std_string || type.kind == TypeName::Kind::bitset) {
      read_frame(in);
      return add_column(in, count, name, [this, &type](Cursor& at) { value(at, type, Place::item); }, columns);
    }
    add_column(in, count, name, [this, &type](Cursor& at) { value(at, type, Place::member); }, columns);
  }

  // Finds where this member of each item begins, by reading it in silence.
  void add_column(Cursor& in, std::uint32_t count, std::string_view name, std::function<void(Cursor&)> read,
                  std::vector<MemberColumn>& columns) {
    MemberColumn column{name, std::move(read), {}};
    Silence silence;
    ObjectVisitor* outer = std::exchange(visitor_, &silence);
    for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
      column.starts.push_back(static_cast<std::uint32_t>(in.position()));
      column.read(in);
    }
    visitor_ = outer;
    columns.push_back(std::move(column));
  }

  // Item by item. `class_name` empty: pairs of a map of type `map_type`.
  void tell_columns(Cursor& in, std::uint32_t count, const std::vector<MemberColumn>& columns, std::string_view class_name,
                    std::string_view map_type) {
    visitor_->begin_list();
    for (std::uint32_t i = 0; i < count && may_go_on(in); ++i) {
      if (class_name.empty()) visitor_->begin_pair(map_type);
      else visitor_->begin_object(class_name, 0);
      const std::size_t counters = counters_.size();
      for (const MemberColumn& column : columns) {
        if (i >= column.starts.size()) break;
        Cursor at = in;
        at.seek(column.starts[i], "member");
        if (!column.name.empty()) visitor_->member(column.name);
        column.read(at);
      }
      counters_.resize(counters);
      visitor_->end_object();
    }
    visitor_->end_list();
  }

  // An STL member, alone or in an array with one header around all.
  void stl_element(Cursor& outer, const StreamerElement& e) {
    const Prepared& p = prepared(e);
    if (p.shape.empty()) return value(outer, p.type, Place::member);
    const Frame frame = read_frame(outer);
    Cursor in = inside(outer, frame);
    if (frame.member_wise) {
      const StreamerInfo* info = value_class(in, p.type);
      shaped(in, p.shape, [&] { member_wise_items(in, p.type, info); });
    } else {
      shaped(in, p.shape, [&] { value(in, p.type, Place::item); });
    }
    leave(outer, in, frame);
  }

  const StreamerInfos& infos_;
  const std::uint32_t origin_;
  ObjectVisitor* visitor_;
  std::uint64_t work_left_;
  int depth_ = 0;
  std::vector<Counter> counters_;
  std::unordered_map<const StreamerElement*, Prepared> prepared_;
  std::string refused_;
};

}  // namespace

void numbers_as_double(const StoredNumbers& numbers, double* to) {
  if (numbers.packing) {
    if (numbers.packing->to_double) return unpack(*numbers.packing, numbers.bytes, reinterpret_cast<std::byte*>(to));
    std::vector<float> narrow(numbers.count());
    unpack(*numbers.packing, numbers.bytes, reinterpret_cast<std::byte*>(narrow.data()));
    std::copy(narrow.begin(), narrow.end(), to);
    return;
  }
  const auto convert = [&]<class T>(T) {
    for (std::size_t i = 0; i < numbers.count(); ++i)
      to[i] = static_cast<double>(load_big<T>(numbers.bytes.data() + i * sizeof(T)));
  };
  switch (numbers.dtype) {
    case Dtype::b1:
    case Dtype::u1: return convert(std::uint8_t{});
    case Dtype::i1: return convert(std::int8_t{});
    case Dtype::i2: return convert(std::int16_t{});
    case Dtype::u2: return convert(std::uint16_t{});
    case Dtype::i4: return convert(std::int32_t{});
    case Dtype::u4: return convert(std::uint32_t{});
    case Dtype::i8: return convert(std::int64_t{});
    case Dtype::u8: return convert(std::uint64_t{});
    case Dtype::f4: return convert(float{});
    case Dtype::f8: return convert(double{});
  }
}

Result<> visit_object(const StreamerInfos& infos, std::string_view class_name, std::span<const std::byte> payload,
                      std::uint32_t keylen, ObjectVisitor& visitor) {
  Cursor in(payload);
  Reader reader(infos, payload, keylen, visitor);
  reader.key_object(in, class_name);
  if (!reader.refused().empty()) return fail(ErrorKind::unsupported, reader.refused());
  return in.finish();
}

bool derives_from(const StreamerInfos& infos, std::string_view class_name, std::string_view base) {
  const StreamerInfo* info = infos.newest(class_name);
  std::string_view name = class_name;
  for (int depth = 0; depth < 20; ++depth) {  // more bases above each other than any class has
    if (name == base) return true;
    if (!info) return false;
    const auto first = std::find_if(info->elements.begin(), info->elements.end(), is_base);
    if (first == info->elements.end()) return false;
    name = first->name;
    info = infos.newest(name);
  }
  return false;
}

}  // namespace tfile
