// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/item_form.h"

#include <algorithm>
#include <string>

#include "streamer/info/basic_type.h"
#include "streamer/info/own_class.h"

namespace tfile {
namespace {

// Whether ROOT writes the items one by one, each as long as it is.
bool is_written_by_items(const TypeName& collection) {
  return collection.text.starts_with("list<") || collection.text.starts_with("deque<") ||
         collection.text.starts_with("forward_list<");
}

bool is_fractional(Dtype dtype) { return dtype == Dtype::f4 || dtype == Dtype::f8; }

}  // namespace

std::optional<int> enumeration(const StreamerInfos& infos, const TypeName& item, bool undescribed) {
  if (item.kind != TypeName::Kind::named_class || item.text.empty()) return std::nullopt;
  if (infos.newest(item.text) || own_class(item.text) || has_own_streamer(item.text)) return std::nullopt;
  if (const auto known = infos.enumeration(item.text)) return known;
  // A class of which no object was written has no description either, and is then told by its template.
  return undescribed && item.text.back() != '>' ? std::optional(0) : std::nullopt;
}

EnumItem enum_item(int own) {
  const auto dtype = basic_dtype(own);
  return dtype ? EnumItem{*dtype, true} : EnumItem{Dtype::i4, false};
}

std::optional<EnumItem> enum_item(int own, const TypeName& collection, ItemIn place) {
  EnumItem item = enum_item(own);
  if (size_of(item.dtype) == sizeof(std::int32_t) || is_fractional(item.dtype)) return item;
  item.is_certain = false;
  if (place == ItemIn::inner || (place == ItemIn::own_header && is_written_by_items(collection))) return item;
  // ROOT takes the memory of the whole collection for numbers of 4 bytes.
  if (place == ItemIn::shared_header) return std::nullopt;
  item.dtype = Dtype::i4;
  return item;
}

namespace {

const StreamerInfo* pair_class(const StreamerInfos& infos, const TypeName& first, const TypeName& second) {
  return infos.newest("pair<" + first.text + "," + second.text + (second.text.ends_with('>') ? " >" : ">"));
}

const StreamerElement* described_part(const StreamerInfo& pair, std::size_t part) {
  const auto found = std::ranges::find(pair.elements, part == 0 ? "first" : "second", &StreamerElement::name);
  return found == pair.elements.end() ? nullptr : &*found;
}

}  // namespace

const StreamerElement* pair_part(const StreamerInfos& infos, const TypeName& first, const TypeName& second,
                                 std::size_t part, bool undescribed) {
  const TypeName& type = part == 0 ? first : second;
  if (type.kind != TypeName::Kind::array && !enumeration(infos, type, undescribed)) return nullptr;
  const StreamerInfo* info = pair_class(infos, first, second);
  return info ? described_part(*info, part) : nullptr;
}

bool is_left_out_of_pair(const StreamerInfos& infos, const TypeName& first, const TypeName& second, std::size_t part) {
  const TypeName& type = part == 0 ? first : second;
  if (type.kind != TypeName::Kind::named_class || infos.newest(type.text)) return false;
  const StreamerInfo* info = pair_class(infos, first, second);
  return info && !described_part(*info, part);
}

const StreamerInfo* array_class(const StreamerInfos& infos, const TypeName& type) {
  const StreamerInfo* info = type.kind == TypeName::Kind::array ? infos.newest(type.text) : nullptr;
  return info && info->elements.size() == 1 && !is_base(info->elements[0]) ? info : nullptr;
}

}  // namespace tfile
