// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "format/streamer/object_image.h"
#include "streamer/info/streamer_info.h"

namespace tfile::test {

inline std::string class_of(ElementKind kind) {
  switch (kind) {
    case ElementKind::base:
      return "TStreamerBase";
    case ElementKind::basic:
      return "TStreamerBasicType";
    case ElementKind::basic_pointer:
      return "TStreamerBasicPointer";
    case ElementKind::loop:
      return "TStreamerLoop";
    case ElementKind::object:
      return "TStreamerObject";
    case ElementKind::object_any:
      return "TStreamerObjectAny";
    case ElementKind::object_pointer:
      return "TStreamerObjectPointer";
    case ElementKind::object_any_pointer:
      return "TStreamerObjectAnyPointer";
    case ElementKind::string:
      return "TStreamerString";
    case ElementKind::stl:
      return "TStreamerSTL";
    case ElementKind::stl_string:
      return "TStreamerSTLstring";
    case ElementKind::artificial:
      return "TStreamerArtificial";
    case ElementKind::unknown:
      return "TStreamerOfTomorrow";
  }
  return {};
}

// One element, in the given version of TStreamerElement.
inline void put_element(ObjectImage& image, const StreamerElement& element, std::uint16_t element_version) {
  const std::size_t slot = image.open_object(class_of(element.kind));
  const std::size_t own = image.open(2);
  const std::size_t stl = element.kind == ElementKind::stl_string ? image.open(3) : 0;
  const std::size_t common = image.open(element_version);
  image.tnamed(element.name, element.title);
  for (const std::int32_t number : {element.type, element.size, element.array_length, element.array_dim}) {
    image.put(number);
  }
  if (element_version == 1) image.put(std::int32_t{5});
  for (const std::int32_t index : element.max_index) image.put(index);
  image.put_string(element.type_name);
  for (int i = 0; i < 3 && element_version == 3; ++i) image.put(1.5);
  image.close(common);
  switch (element.kind) {
    case ElementKind::base:
      if (element_version > 1) image.put(element.base_version);
      break;
    case ElementKind::basic_pointer:
    case ElementKind::loop:
      image.put(element.count_version);
      image.put_string(element.count_name);
      image.put_string(element.count_class);
      break;
    case ElementKind::stl:
    case ElementKind::stl_string:
      image.put(element.stl_type);
      image.put(element.stl_content);
      break;
    default:
      break;
  }
  if (stl != 0) image.close(stl);
  image.close(own);
  image.close(slot);
}

inline void put_info(ObjectImage& image, const StreamerInfo& info, std::uint16_t element_version) {
  const std::size_t slot = image.open_object("TStreamerInfo");
  const std::size_t own = image.open(9);
  image.tnamed(info.class_name, "");
  image.put(info.checksum);
  image.put(info.version);
  const std::size_t array_slot = image.open_object("TObjArray");
  const std::size_t array = image.open_array(static_cast<std::int32_t>(info.elements.size()));
  for (const StreamerElement& element : info.elements) put_element(image, element, element_version);
  image.close(array);
  image.close(array_slot);
  image.close(own);
  image.close(slot);
  image.put_string("");  // the list's option
}

// The payload of a StreamerInfo record.
inline ObjectImage streamer_info_record(std::span<const StreamerInfo> infos, std::uint32_t keylen,
                                        std::uint16_t element_version = 4) {
  ObjectImage image(keylen);
  const std::size_t list = image.open(5);
  image.tobject();
  image.put_string("");
  image.put(static_cast<std::int32_t>(infos.size()));
  for (const StreamerInfo& info : infos) put_info(image, info, element_version);
  image.close(list);
  return image;
}

}  // namespace tfile::test
