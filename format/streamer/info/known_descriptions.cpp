// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/known_descriptions.h"

#include <algorithm>
#include <string_view>

#include "streamer/info/cpp_type.h"
#include "streamer/info/needed_descriptions.h"

namespace tfile {
namespace {

// Their streamers write the class of each object.
constexpr std::string_view kAnyHolders[] = {"TCollection",  "TSeqCollection", "TList",        "TSortedList",
                                            "THashList",    "TObjArray",      "TClonesArray", "TOrdCollection",
                                            "TRefArray",    "TBtree",         "TMap",         "THashTable",
                                            "TObjectTable", "TFolder",        "TExMap"};

bool names_packed(const StreamerElement& element) {
  using namespace element_type;
  const int basic = element.type > kOffsetPointer ? element.type - kOffsetPointer
                    : element.type > kOffsetArray ? element.type - kOffsetArray
                                                  : element.type;
  return basic == kDouble32 || basic == kFloat16 || element.type_name.find("Double32_t") != std::string::npos ||
         element.type_name.find("Float16_t") != std::string::npos;
}

bool is_same_type(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const CppType first = parse_cpp_type(a), second = parse_cpp_type(b);
  return first.key() == second.key() && first.suffix == second.suffix;
}

// For numbers, the code says it all: their names differ between versions of ROOT ("UInt_t", "unsigned int").
bool is_same_type(const StreamerElement& a, const StreamerElement& b) {
  const bool is_number = a.kind == ElementKind::basic || a.kind == ElementKind::basic_pointer;
  return (is_number && a.kind == b.kind) || is_same_type(a.type_name, b.type_name);
}

// Sizes in memory depend on the machine, and comments tell only ranges, and what the one member of a collection is.
bool is_described_alike(const StreamerElement& a, const StreamerElement& b) {
  const bool title_tells = names_packed(a) || a.name == "This";
  return a.name == b.name && a.type == b.type && is_same_type(a, b) && a.array_length == b.array_length &&
         a.max_index == b.max_index && a.base_version == b.base_version && a.has_flag == b.has_flag &&
         a.count_name == b.count_name && a.count_class == b.count_class && a.stl_type == b.stl_type &&
         a.stl_content == b.stl_content && (!title_tells || a.title == b.title);
}

bool is_pointer_to_object(const StreamerElement& element) {
  if (element.kind == ElementKind::basic || element.kind == ElementKind::basic_pointer) return false;
  return element.type_name.find('*') != std::string::npos || element.type_name.find("_ptr<") != std::string::npos;
}

bool holds_any(std::string_view class_name) {
  return class_name.find('*') != std::string_view::npos || class_name.find("_ptr<") != std::string_view::npos ||
         std::ranges::find(kAnyHolders, class_name) != std::end(kAnyHolders);
}

bool holds_any(const StreamerInfo& info) {
  return std::ranges::any_of(info.elements, [](const StreamerElement& element) {
    return is_pointer_to_object(element) || holds_any(is_base(element) ? element.name : element.type_name);
  });
}

}  // namespace

std::vector<std::string> KnownDescriptions::contradicted_by(const StreamerInfos& infos) const {
  std::vector<std::string> names;
  for (const auto& info : infos.from_file()) {
    const auto known = known_.find({info->class_name, info->version});
    if (known == known_.end() || std::ranges::equal(known->second->elements, info->elements, is_described_alike))
      continue;
    if (std::ranges::find(names, info->class_name) == names.end()) names.push_back(info->class_name);
  }
  return names;
}

void KnownDescriptions::take(std::shared_ptr<const StreamerInfos> infos) {
  bool has_new = false;
  for (const auto& info : infos->from_file())
    has_new |= known_.try_emplace({info->class_name, info->version}, info.get()).second;
  if (has_new) taken_.push_back(std::move(infos));
}

bool may_hold(const StreamerInfos& infos, std::span<const std::string> types, std::span<const std::string> classes) {
  if (classes.empty()) return false;
  if (std::ranges::any_of(types, [](const std::string& type) { return holds_any(type); })) return true;
  const std::vector<const StreamerInfo*> needed = needed_descriptions(infos, types);
  return std::ranges::any_of(needed, [&](const StreamerInfo* info) {
    return holds_any(*info) || std::ranges::find(classes, info->class_name) != classes.end();
  });
}

}  // namespace tfile
