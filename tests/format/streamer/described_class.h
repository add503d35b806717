// SPDX-License-Identifier: Apache-2.0
// Classes as streamer infos describe them, in a line each, and what the compiler of layouts makes of their members.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "format/streamer/entries_image.h"
#include "format/streamer/streamer_info_image.h"
#include "streamer/layout/class_layout.h"

namespace tfile::test {

using namespace element_type;
using Ends = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

inline constexpr std::uint16_t kMemberWise = 0x4000;
inline constexpr std::uint16_t kFrame = 9;  // version of the class TStreamerInfo in most files

inline StreamerElement member(const std::string& name, int type, const std::string& type_name,
                              ElementKind kind = ElementKind::basic) {
  StreamerElement element;
  element.kind = kind;
  element.name = name;
  element.type = type;
  element.type_name = type_name;
  return element;
}
inline StreamerElement stl(const std::string& name, const std::string& type_name) {
  return member(name, kStreamer, type_name, ElementKind::stl);
}
inline StreamerElement object_member(const std::string& name, const std::string& type_name) {
  return member(name, kAny, type_name, ElementKind::object_any);
}
inline StreamerElement base(const std::string& name, int version) {
  StreamerElement element = member(name, kBase, "BASE", ElementKind::base);
  element.base_version = version;
  return element;
}
inline StreamerElement counted(const std::string& name, int type, const std::string& counter,
                               const std::string& counter_class) {
  StreamerElement element = member(name, kOffsetPointer + type, "float*", ElementKind::basic_pointer);
  element.count_name = counter;
  element.count_class = counter_class;
  return element;
}
inline StreamerElement array(StreamerElement element, const std::vector<std::int32_t>& dimensions) {
  element.array_dim = static_cast<std::int32_t>(dimensions.size());
  element.array_length = 1;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    element.max_index[i] = dimensions[i];
    element.array_length *= dimensions[i];
  }
  if (element.kind == ElementKind::basic || element.type >= kObject) element.type += kOffsetArray;
  return element;
}

inline StreamerInfo class_info(const std::string& name, std::vector<StreamerElement> elements, int version = 1) {
  StreamerInfo info;
  info.class_name = name;
  info.version = version;
  info.checksum = static_cast<std::uint32_t>(name.size() * 1000 + elements.size());
  info.elements = std::move(elements);
  return info;
}

inline StreamerInfos read_infos(const std::vector<StreamerInfo>& infos) {
  const auto record = streamer_info_record(infos, 0);
  std::vector<std::string> warnings;
  auto read = StreamerInfos::read(record.all(), 0, warnings);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  return read;
}

// The members of the first class, as in an unsplit branch.
inline Result<Layout> layout_of_members(const std::vector<StreamerInfo>& classes) {
  const StreamerInfos infos = read_infos(classes);
  LayoutCompiler compiler(infos);
  auto shape = compiler.members(*infos.newest(classes.front().class_name));
  if (!shape) return tl::unexpected<Error>(shape.error());
  return Layout{compiler.finish(), *std::move(shape)};
}
inline Layout members(const std::vector<StreamerInfo>& classes) {
  auto layout = layout_of_members(classes);
  EXPECT_TRUE(layout) << layout.error().text;
  return layout ? *std::move(layout) : Layout();
}
inline Layout one_member(const StreamerElement& element, std::vector<StreamerInfo> more = {}) {
  more.insert(more.begin(), class_info("Whole", {element}));
  return members(more);
}
// A value of this type as a member.
inline Layout value(const std::string& type, const std::vector<StreamerInfo>& classes = {}) {
  const StreamerInfos infos = read_infos(classes);
  LayoutCompiler compiler(infos);
  auto shape = compiler.value(parse_type_name(type), ValueIn::member);
  EXPECT_TRUE(shape) << shape.error().text;
  return shape ? Layout{compiler.finish(), *std::move(shape)} : Layout();
}
// A member of a split collection in a branch of its own.
inline Layout in_split_collection(const StreamerElement& element, const std::vector<StreamerInfo>& classes = {}) {
  const StreamerInfos infos = read_infos(classes);
  LayoutCompiler compiler(infos);
  auto shape = compiler.element_of_items(element, Op::Kind::rest);
  EXPECT_TRUE(shape) << shape.error().text;
  return shape ? Layout{compiler.finish(), *std::move(shape)} : Layout();
}

inline std::string reason_against(const StreamerElement& element, std::vector<StreamerInfo> more = {}) {
  more.insert(more.begin(), class_info("Whole", {element}));
  auto layout = layout_of_members(more);
  if (layout) return "";
  EXPECT_EQ(layout.error().kind, ErrorKind::unsupported);
  return layout.error().text;
}

inline const std::vector<StreamerInfo> kHit = {
    class_info("Hit", {member("id", kInt, "int"), stl("samples", "vector<float>")})};

inline void put_list(EntriesImage& image, const Ints& values) {
  image.put(static_cast<std::uint32_t>(values.size()));
  for (const std::int32_t value : values) image.put(value);
}

}  // namespace tfile::test
