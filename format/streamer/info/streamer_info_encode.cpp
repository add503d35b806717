// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "bytes/cursor.h"
#include "streamer/info/element_form.h"
#include "streamer/info/object_append.h"
#include "streamer/info/object_frame.h"
#include "streamer/info/streamer_info_record.h"

namespace tfile {
namespace {

// Versions of the classes in the record. TStreamerInfo has the version of ROOT 5 and of ROOT 6 up to 6.38. Version 10,
// of ROOT 6.40, has the same members, but some readers do not know it.
constexpr std::uint16_t kListVersion = 5, kArrayVersion = 3, kInfoVersion = 9, kElementVersion = 4;

// fSize of members and bases: their sizeof on common 64-bit machines. Readers ignore it.
constexpr std::pair<std::string_view, std::int32_t> kSizes[] = {
    {"TObject", 16},    {"TNamed", 64},         {"TString", 24},     {"TAttLine", 16},         {"TAttFill", 16},
    {"TAttMarker", 16}, {"TObjArray", 64},      {"TArrayD", 24},     {"TArrayI", 24},          {"TBranch", 600},
    {"TLeaf", 112},     {"TSeqCollection", 48}, {"TCollection", 48}, {"ROOT::TIOFeatures", 1}, {"vector<string>", 24},
};
constexpr std::int32_t kPointerSize = 8;

std::int32_t size_of_element(const StreamerElement& element) {
  if (element.type_name.ends_with('*')) return kPointerSize;
  if (element.size != 0) return element.size;
  const std::string_view type = element.kind == ElementKind::base ? element.name : element.type_name;
  const auto* found = std::ranges::find(kSizes, type, &std::pair<std::string_view, std::int32_t>::first);
  return found == std::end(kSizes) ? 0 : found->second;
}

const StreamerInfo* builtin(std::string_view class_name, int version) {
  for (const StreamerInfo& info : builtin_streamer_infos()) {
    if (info.class_name == class_name && info.version == version) return &info;
  }
  return nullptr;
}

// Classes that this code writes are built in with their checksum, in one version.
const StreamerInfo* written(std::string_view class_name) {
  for (const StreamerInfo& info : builtin_streamer_infos()) {
    if (info.class_name == class_name && info.checksum != 0) return &info;
  }
  return nullptr;
}

void append_element(ObjectAppender& out, const StreamerElement& element) {
  const ElementClass& element_of = element_class(element.kind);
  const std::size_t slot = out.open_pointer(element_of.name);
  const std::size_t own = out.open(element_of.version);
  const bool is_stl_string = element.kind == ElementKind::stl_string;  // a class derived from that of other containers
  const std::size_t stl = is_stl_string ? out.open(element_class(ElementKind::stl).version) : 0;
  const std::size_t common = out.open(kElementVersion);
  out.tnamed(element.name, element.title);
  out.big(element.type);
  out.big(size_of_element(element));
  out.big(element.array_length);
  out.big(element.array_dim);
  auto indices = element.max_index;
  if (element.kind == ElementKind::base) {
    const StreamerInfo* base = builtin(element.name, element.base_version);
    const bool is_known = element.base_checksum != 0 || base == nullptr;
    indices[1] = static_cast<std::int32_t>(is_known ? element.base_checksum : base->checksum);
  }
  for (const std::int32_t index : indices) out.big(index);
  out.string(element.type_name);
  out.close(common);
  if (element.kind == ElementKind::base) out.big(element.base_version);
  if (element.kind == ElementKind::basic_pointer || element.kind == ElementKind::loop) {
    out.big(element.count_version);
    out.string(element.count_name);
    out.string(element.count_class);
  }
  if (element.kind == ElementKind::stl || is_stl_string) {
    out.big(element.stl_type);
    out.big(element.stl_content);
  }
  if (is_stl_string) out.close(stl);
  out.close(own);
  out.close(slot);
}

void append_info(ObjectAppender& out, const StreamerInfo& info) {
  const std::size_t slot = out.open_pointer("TStreamerInfo");
  const std::size_t own = out.open(kInfoVersion);
  out.tnamed(info.class_name, "");
  out.big(info.checksum);
  out.big(info.version);
  const std::size_t elements_slot = out.open_pointer("TObjArray");
  const std::size_t elements = out.open(kArrayVersion);
  out.tobject();
  out.string("");
  out.big(static_cast<std::int32_t>(info.elements.size()));
  out.big(std::int32_t{0});  // fLowerBound
  for (const StreamerElement& element : info.elements) append_element(out, element);
  out.close(elements);
  out.close(elements_slot);
  out.close(own);
  out.close(slot);
  out.string("");  // the option of the slot
}

}  // namespace

std::vector<std::byte> encode_streamer_infos(std::span<const StreamerInfo* const> infos, std::uint32_t keylen,
                                             std::string_view name) {
  ObjectAppender out(keylen);
  const std::size_t list = out.open(kListVersion);
  out.tobject();
  out.string(name);
  out.big(static_cast<std::int32_t>(infos.size()));
  for (const StreamerInfo* info : infos) append_info(out, *info);
  out.close(list);
  return out.take();
}

Result<std::vector<std::byte>> add_streamer_infos(std::span<const std::byte> payload,
                                                  std::span<const StreamerInfo* const> infos, std::uint32_t keylen) {
  Cursor in(payload);
  const Frame frame = read_frame(in);
  read_tobject(in);
  in.string("TList: fName");
  const std::size_t count_at = in.position();
  const auto count = in.big<std::int32_t>("TList: size");
  if (frame.version < kListVersion - 1 || !frame.counted || count < 0) in.reject("TList");
  TRY_VOID(in.finish());
  ObjectAppender out(keylen);
  out.bytes(payload.first(frame.end));
  for (const StreamerInfo* info : infos) append_info(out, *info);
  out.patch_big(count_at, count + static_cast<std::int32_t>(infos.size()));
  out.close(0);
  return out.take();
}

std::string name_of_streamer_infos(std::span<const std::byte> payload) {
  Cursor in(payload);
  read_frame(in);
  read_tobject(in);
  return std::string(in.string("TList: fName"));
}

bool is_standard(const StreamerInfo& info) {
  const StreamerInfo* standard = written(info.class_name);
  return standard != nullptr && standard->version == info.version && standard->checksum == info.checksum;
}

std::vector<const StreamerInfo*> missing_streamer_infos(std::span<const std::string> classes,
                                                        const StreamerInfos& known) {
  std::vector<const StreamerInfo*> needed;
  std::unordered_set<std::string_view> seen;
  const auto need = [&](std::string_view name) {
    const StreamerInfo* info = written(name);
    if (info != nullptr && seen.insert(info->class_name).second) needed.push_back(info);
  };
  for (const std::string& name : classes) need(name);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (const StreamerElement& element : needed[i]->elements) {
      std::string_view type = element.kind == ElementKind::base ? element.name : element.type_name;
      if (type.ends_with('*')) type.remove_suffix(1);
      need(type);
    }
  }
  std::erase_if(needed, [&](const StreamerInfo* info) {
    return std::ranges::any_of(known.from_file(), [&](const auto& one) {
      return one->class_name == info->class_name && one->version == info->version;
    });
  });
  return needed;
}

}  // namespace tfile
