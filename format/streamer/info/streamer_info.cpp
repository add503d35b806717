// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/streamer_info.h"

#include <algorithm>
#include <utility>

#include "bytes/cursor.h"
#include "model/heap.h"
#include "streamer/info/basic_type.h"
#include "streamer/info/element_form.h"
#include "streamer/info/own_class.h"
#include "streamer/info/type_name.h"

namespace tfile {
namespace {

// The most members of all classes together; more are damage. The largest classes of real experiments have a few
// thousand. A member takes some hundred bytes of memory, and twenty in the file, which compress.
constexpr std::uint32_t kElementsMax = 1 << 17;

// Values of fSTLtype.
constexpr std::int32_t kStlMultimap = 5, kStlSet = 6;

// Reads TStreamerElement, the part common to all elements.
void read_common_part(Cursor& in, StreamerElement& element) {
  const Frame frame = read_frame(in);
  const NamedText text = read_tnamed(in);
  element.name = text.name;
  element.title = text.title;
  element.type = in.big<std::int32_t>("TStreamerElement: fType");
  element.size = in.big<std::int32_t>("TStreamerElement: fSize");
  element.array_length = in.big<std::int32_t>("TStreamerElement: fArrayLength");
  element.array_dim = in.big<std::int32_t>("TStreamerElement: fArrayDim");
  std::int32_t indices = static_cast<std::int32_t>(element.max_index.size());
  if (frame.version == 1) indices = in.big<std::int32_t>("TStreamerElement: size of fMaxIndex");
  if (indices < 0 || indices > static_cast<std::int32_t>(element.max_index.size())) {
    return in.reject("TStreamerElement: size of fMaxIndex");
  }
  for (std::int32_t i = 0; i < indices; ++i) {
    element.max_index[static_cast<std::size_t>(i)] = in.big<std::int32_t>("TStreamerElement: fMaxIndex");
  }
  element.type_name = in.string("TStreamerElement: fTypeName");
  if (frame.version == 3) in.skip(3 * sizeof(double), "TStreamerElement: fXmin");
  leave_frame(in, frame);

  // Files from before ROOT 4 call bool an unsigned char.
  using namespace element_type;
  if (element.type_name == "Bool_t" || element.type_name == "bool") {
    if (element.type == kUChar) element.type = kBool;
    if (element.type == kOffsetArray + kUChar) element.type = kOffsetArray + kBool;
    if (element.type == kOffsetPointer + kUChar) element.type = kOffsetPointer + kBool;
  }
}

// Reads the fields that the element's own class adds.
void read_own_part(Cursor& in, const Frame& frame, StreamerElement& element) {
  switch (element.kind) {
    case ElementKind::base:
      element.base_checksum = static_cast<std::uint32_t>(element.max_index[1]);
      // TStreamerBase ends here in its first versions.
      if (frame.counted && !in.failed() && in.position() + sizeof(std::int32_t) > frame.end) break;
      element.base_version = in.big<std::int32_t>("TStreamerBase: fBaseVersion");
      break;
    case ElementKind::basic_pointer:
    case ElementKind::loop:
      element.count_version = in.big<std::int32_t>("streamer element: fCountVersion");
      element.count_name = in.string("streamer element: fCountName");
      element.count_class = in.string("streamer element: fCountClass");
      break;
    case ElementKind::stl:
    case ElementKind::stl_string:
      element.stl_type = in.big<std::int32_t>("TStreamerSTL: fSTLtype");
      element.stl_content = in.big<std::int32_t>("TStreamerSTL: fCtype");
      // Up to ROOT 5, multimap and set had each other's number; the name of the type decides.
      if (element.type_name.starts_with("set<") || element.type_name.starts_with("std::set<")) {
        element.stl_type = kStlSet;
      } else if (element.type_name.starts_with("multimap<") || element.type_name.starts_with("std::multimap<")) {
        element.stl_type = kStlMultimap;
      }
      break;
    default:
      break;
  }
}

StreamerElement read_element(Cursor& in, std::string_view class_name) {
  StreamerElement element;
  element.kind = element_class(class_name).kind;
  const Frame frame = read_frame(in);
  Frame stl_frame;  // TStreamerSTLstring is derived from TStreamerSTL
  if (element.kind == ElementKind::stl_string) stl_frame = read_frame(in);
  read_common_part(in, element);
  read_own_part(in, element.kind == ElementKind::stl_string ? stl_frame : frame, element);
  leave_frame(in, frame);
  return element;
}

// A cursor over the same bytes that ends with the object, so that damage stays inside it.
Cursor inside(const Cursor& in, const ObjectTag& tag) {
  Cursor inner(tag.counted ? in.bytes().first(tag.end) : in.bytes());
  inner.seek(in.position(), "object");
  return inner;
}

// Reads one element of a class, a slot of fElements. An unreadable element becomes `unknown`, so that indices (fID of
// branches) stay correct.
void read_element_slot(Cursor& in, std::uint32_t keylen, StreamerInfo& info, std::vector<std::string>& warnings) {
  const ObjectTag tag = read_object_tag(in, keylen);
  if (tag.kind != ObjectTag::Kind::object || in.failed()) return;
  Cursor inner = inside(in, tag);
  StreamerElement element = read_element(inner, tag.class_name);
  if (inner.failed()) {
    warnings.push_back("StreamerInfo of " + info.class_name + ": element " + std::to_string(info.elements.size()) +
                       ": " + inner.error().text);
    element = StreamerElement{};
  }
  info.elements.push_back(std::move(element));
  if (tag.counted) {
    in.seek(tag.end, "streamer element: end");
  } else if (inner.failed()) {
    in.reject("streamer element");
  } else {
    in.seek(inner.position(), "streamer element: end");
  }
}

StreamerInfo read_info(Cursor& in, std::uint32_t keylen, std::vector<std::string>& warnings) {
  StreamerInfo info;
  const Frame frame = read_frame(in);
  info.class_name = read_tnamed(in).name;
  info.checksum = in.big<std::uint32_t>("TStreamerInfo: fCheckSum");
  info.version = in.big<std::int32_t>("TStreamerInfo: fClassVersion");
  const ObjectTag tag = read_object_tag(in, keylen);
  if (tag.kind == ObjectTag::Kind::object) {
    const Frame array_frame = read_frame(in);
    const std::uint32_t count = read_collection_head(in, *own_class("TObjArray"), array_frame.version).count;
    if (count > kElementsMax) in.reject("TObjArray: size");
    for (std::uint32_t i = 0; i < count && !in.failed(); ++i) read_element_slot(in, keylen, info, warnings);
    leave_frame(in, array_frame);
  }
  leave_frame(in, frame);
  return info;
}

// Reads one slot of the record's list. False if reading cannot continue after it.
bool read_list_slot(Cursor& in, std::uint32_t keylen, std::vector<std::unique_ptr<StreamerInfo>>& infos,
                    std::size_t& elements, std::vector<std::string>& warnings) {
  const ObjectTag tag = read_object_tag(in, keylen);
  if (in.failed()) return false;
  if (tag.kind != ObjectTag::Kind::object) return true;
  Cursor inner = inside(in, tag);
  // A slot of another class is the list of schema evolution rules.
  if (tag.class_name == "TStreamerInfo") {
    StreamerInfo info = read_info(inner, keylen, warnings);
    if (inner.failed()) warnings.push_back("StreamerInfo of '" + info.class_name + "': " + inner.error().text);
    elements += info.elements.size();
    if (!info.class_name.empty() && !(inner.failed() && info.elements.empty())) {
      infos.push_back(std::make_unique<StreamerInfo>(std::move(info)));
    }
  } else if (!tag.counted) {
    return false;
  }
  in.seek(tag.counted ? tag.end : inner.position(), "StreamerInfo: end of a class");
  return tag.counted || !inner.failed();
}

std::vector<std::unique_ptr<StreamerInfo>> read_list(std::span<const std::byte> payload, std::uint32_t keylen,
                                                     std::vector<std::string>& warnings) {
  std::vector<std::unique_ptr<StreamerInfo>> infos;
  if (payload.empty()) return infos;
  Cursor in(payload);
  const Frame frame = read_frame(in);
  const OwnClass& list = *own_class("TList");
  const std::uint32_t count = read_collection_head(in, list, frame.version).count;
  bool going = !in.failed();
  std::size_t elements = 0;
  for (std::uint32_t i = 0; i < count && going; ++i) {
    going = read_list_slot(in, keylen, infos, elements, warnings);
    if (list.has_options(frame.version)) in.string("TList: option");
    if (elements > kElementsMax) in.reject("StreamerInfo: too many members");
    going = going && !in.failed();
  }
  if (!going) warnings.push_back("StreamerInfo record: incomplete: " + in.error().text);
  return infos;
}

}  // namespace

StreamerInfos StreamerInfos::read(std::span<const std::byte> payload, std::uint32_t keylen,
                                  std::vector<std::string>& warnings) {
  StreamerInfos infos;
  infos.from_file_ = read_list(payload, keylen, warnings);
  for (const auto& info : infos.from_file_) {
    infos.by_name_[info->class_name].push_back(info.get());
    if (const auto open = info->class_name.find('<'); open != std::string::npos)
      infos.by_template_.emplace(info->class_name.substr(0, open), info.get());
    for (const StreamerElement& e : info->elements) {
      if (e.kind == ElementKind::base) infos.direct_heirs_[e.name].push_back(info->class_name);
      infos.note_enumeration(*info, e);
    }
  }
  for (const StreamerInfo& info : builtin_streamer_infos()) infos.by_name_[info.class_name].push_back(&info);
  for (const auto& [name, versions] : infos.by_name_) {
    for (const StreamerInfo* info : versions) {
      for (const StreamerElement& e : info->elements) {
        if (!e.count_name.empty()) infos.counters_.insert(e.count_name);
      }
    }
  }
  return infos;
}

// A collection names the type of its items, and a pair those of its parts. A member of a class, and of a pair with a
// dictionary, is an Int_t whatever the enumeration is.
void StreamerInfos::note_enumeration(const StreamerInfo& info, const StreamerElement& e) {
  using namespace element_type;
  if (e.kind == ElementKind::basic && e.type > kBase && e.type < kOffsetPointer) {
    const int own = e.type % kOffsetArray;
    const TypeName type = parse_type_name(e.type_name);
    const bool is_told = own != kInt && info.class_name.starts_with("pair<");
    if (type.kind == TypeName::Kind::named_class && !type.text.empty() && basic_dtype(own))
      note_enumeration(type.text, is_told ? own : 0);
  } else if (e.kind == ElementKind::stl && (e.stl_content == 0 || basic_dtype(e.stl_content))) {
    const TypeName type = parse_type_name(e.type_name);
    if (type.kind == TypeName::Kind::sequence && type.arguments[0].kind == TypeName::Kind::named_class)
      note_enumeration(type.arguments[0].text, e.stl_content);
  }
}

void StreamerInfos::note_enumeration(const std::string& name, int own) {
  const auto [known, is_new] = enumerations_.emplace(name, own);
  if (known->second == 0) known->second = own;
}

std::optional<int> StreamerInfos::enumeration(const std::string& type_name) const {
  const auto found = enumerations_.find(type_name);
  if (found == enumerations_.end()) return std::nullopt;
  return found->second;
}

const StreamerInfo* StreamerInfos::find(std::string_view class_name, int version) const {
  const auto found = by_name_.find(std::string(class_name));
  if (found == by_name_.end()) return nullptr;
  for (const StreamerInfo* info : found->second) {
    if (info->version == version) return info;
  }
  return nullptr;
}

const StreamerInfo* StreamerInfos::find_by_checksum(std::string_view class_name, std::uint32_t checksum) const {
  const auto found = by_name_.find(std::string(class_name));
  if (found == by_name_.end()) return nullptr;
  for (const StreamerInfo* info : found->second) {
    if (info->checksum == checksum) return info;
  }
  return nullptr;
}

std::size_t StreamerInfos::memory() const {
  // The memory per name in a map: the string, its list, and a node for each.
  constexpr std::size_t kIndexed = 3 * sizeof(std::string) + 3 * kBlockOverhead;
  std::size_t bytes = sizeof *this + (by_name_.size() + by_template_.size() + direct_heirs_.size()) * kIndexed;
  for (const auto& info : from_file_) {
    bytes += sizeof *info + kBlockOverhead + heap_of(info->class_name) + heap_of_elements(info->elements);
    for (const StreamerElement& element : info->elements)
      bytes += heap_of(element.name) + heap_of(element.title) + heap_of(element.type_name) +
               heap_of(element.count_name) + heap_of(element.count_class);
  }
  return bytes;
}

const StreamerInfo* StreamerInfos::newest(std::string_view class_name) const {
  const auto found = by_name_.find(std::string(class_name));
  if (found == by_name_.end()) return nullptr;
  // Among equal versions, max_element keeps the first, which is the file's own.
  return *std::max_element(found->second.begin(), found->second.end(),
                           [](const StreamerInfo* a, const StreamerInfo* b) { return a->version < b->version; });
}

const StreamerInfo* StreamerInfos::of_same_template(std::string_view class_name) const {
  const auto found = by_template_.find(std::string(class_name.substr(0, class_name.find('<'))));
  return found == by_template_.end() || class_name.find('<') == class_name.npos ? nullptr : found->second;
}

std::vector<std::string> StreamerInfos::heirs(std::string_view class_name) const {
  std::vector<std::string> found;
  std::unordered_set<std::string> seen{std::string(class_name)};
  std::vector<std::string> level{std::string(class_name)};
  while (!level.empty()) {
    std::vector<std::string> next;
    for (const std::string& name : level) {
      const auto heirs = direct_heirs_.find(name);
      if (heirs == direct_heirs_.end()) continue;
      for (const std::string& heir : heirs->second) {
        if (seen.insert(heir).second) next.push_back(heir);
      }
    }
    found.insert(found.end(), next.begin(), next.end());
    level = std::move(next);
  }
  return found;
}

}  // namespace tfile
