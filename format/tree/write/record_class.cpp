// SPDX-License-Identifier: Apache-2.0
#include "tree/write/record_class.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "tfile/name.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;

// TStreamerSTL::fSTLtype of a vector; fSize of objects on common machines, which readers ignore.
constexpr std::int32_t kVector = 1, kVectorSize = 24, kStringSize = 32;
constexpr std::string_view kTextClass = "string";

// TClass::GetCheckSum.
class CheckSum {
 public:
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  void add(std::uint32_t number) { sum_ = sum_ * 3 + number; }
  std::uint32_t sum() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

std::uint32_t class_checksum(const StreamerInfo& info) {
  CheckSum sum;
  sum.add(info.class_name);
  for (const StreamerElement& element : info.elements) {
    sum.add(element.name);
    sum.add(element.type_name);
    for (std::int32_t i = 0; i < element.array_dim; ++i)
      sum.add(static_cast<std::uint32_t>(element.max_index[static_cast<std::size_t>(i)]));
  }
  return sum.sum();
}

StreamerElement number_element(const WrittenBranch& member) {
  const LeafForm& leaf = member.leaves[0];
  StreamerElement element;
  element.kind = ElementKind::basic;
  element.type = element_type_of(member);
  element.size = static_cast<std::int32_t>(leaf.bytes());
  element.array_dim = static_cast<std::int32_t>(leaf.shape.size());
  element.array_length = leaf.shape.empty() ? 0 : static_cast<std::int32_t>(leaf.count());
  std::ranges::transform(leaf.shape, element.max_index.begin(), [](auto n) { return static_cast<std::int32_t>(n); });
  return element;
}

StreamerElement object_element(const WrittenBranch& member) {
  const bool is_text = class_of(member) == kTextClass;
  StreamerElement element;
  element.kind = is_text ? ElementKind::stl_string : ElementKind::stl;
  element.type = element_type::kStreamer;
  element.size = is_text ? kStringSize : kVectorSize;
  element.stl_type = is_text ? element_type::kStlString : kVector;
  element.stl_content = is_text ? element_type::kStlString : element_type::kObject;
  if (!member.of_texts && member.depth == (member.of_object ? 1 : 2)) {
    WrittenBranch item = member;
    item.kind = Kind::items;
    element.stl_content = element_type_of(item);
  }
  return element;
}

}  // namespace

std::string record_class_name(const WrittenBranch& records) {
  std::string members;
  for (const WrittenBranch& member : records.members) {
    WrittenBranch numbered = member;
    numbered.number = 0;
    members += class_of(numbered) + ' ' + member.leaves[0].name + dimensions(member.leaves[0]) + '\n';
  }
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "Record_%016llx",
                static_cast<unsigned long long>(XXH3_64bits(members.data(), members.size())));
  return name.data();
}

std::string pair_class_name(const WrittenBranch& map) {
  return "pair<" + class_of(map.members[0]) + "," + class_of(map.members[1]) + ">";
}

bool maps_to(Dtype dtype) {
  return dtype == Dtype::i4 || dtype == Dtype::i8 || dtype == Dtype::f4 || dtype == Dtype::f8;
}

void make_map(WrittenBranch& records) {
  records.is_map = true;
  for (std::uint32_t i = 0; i < records.members.size(); ++i) {
    WrittenBranch& member = records.members[i];
    member.is_map = true;
    member.number = i;
    member.leaves[0].name = i == 0 ? "first" : "second";
  }
}

// The one member of a map in the library with which ROOT's own dictionaries were made.
std::uint32_t map_checksum(const WrittenBranch& map) {
  const std::string types = map.class_name.substr(map.class_name.find('<'));
  const std::string pair = "pair<const " + types.substr(1);
  CheckSum sum;
  sum.add(class_of(map));
  sum.add("_M_t");
  sum.add("_Rb_tree<" + class_of(map.members[0]) + "," + pair + ",_Select1st<" + pair + " >,less<" +
          class_of(map.members[0]) + ">,allocator<" + pair + " > >");
  return sum.sum();
}

StreamerInfo record_class_info(const WrittenBranch& records) {
  StreamerInfo info;
  info.class_name = records.class_name;
  info.version = 1;
  for (const WrittenBranch& member : records.members) {
    const bool is_number = member.kind == Kind::items || member.kind == Kind::numbers;
    StreamerElement element = is_number ? number_element(member) : object_element(member);
    element.name = member.leaves[0].name;
    element.type_name = class_of(member);
    info.elements.push_back(std::move(element));
  }
  info.checksum = class_checksum(info);
  return info;
}

std::string member_name(const InputColumn& first, bool is_number) {
  std::string_view path = first.path;
  if (!is_number) path = path.substr(0, path.rfind('/'));
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const auto typed = is_number ? parse_typed_name(name) : std::nullopt;
  return unescape_name(typed ? typed->stem : std::string(name));
}

std::string records_leaf_name(const WrittenBranch& records) { return records.name + "_"; }

std::string member_leaf_name(const WrittenBranch& records, const WrittenBranch& member) {
  return records.name + (records.kind == Kind::object ? "" : ".") + member.leaves[0].name;
}

void name_members(WrittenBranch& records, const std::string& class_name) {
  records.class_name = class_name;
  for (std::uint32_t i = 0; i < records.members.size(); ++i) {
    WrittenBranch& member = records.members[i];
    member.class_name = class_name;
    member.number = i;
    member.name = member_leaf_name(records, member) + dimensions(member.leaves[0]);
    if (!member.of_object) member.counter = records_leaf_name(records);
  }
  records.class_checksum = record_class_info(records).checksum;
  for (WrittenBranch& member : records.members) member.class_checksum = records.class_checksum;
}

}  // namespace tfile
