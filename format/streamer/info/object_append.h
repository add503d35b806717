// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "bytes/appender.h"

namespace tfile {

// Writes streamed objects (docs/format.md, "Object streaming") in the form that object_frame.h reads.
class ObjectAppender : public Appender {
 public:
  // `origin`: the position of byte 0 as counted in tags: fKeylen for a payload.
  explicit ObjectAppender(std::uint32_t origin) : origin_(origin) {}

  // Writes the version header of an object. close(), called with the result after the object, fills in the byte count.
  [[nodiscard]] std::size_t open(std::uint16_t version);
  // The same for a class identified by its checksum.
  [[nodiscard]] std::size_t open_unversioned(std::uint32_t checksum);
  // Begins a pointer slot that contains an object of that class; the object begins with its own header.
  [[nodiscard]] std::size_t open_pointer(std::string_view class_name);
  // Begins a TObjArray in place; its `count` slots follow.
  [[nodiscard]] std::size_t open_array(std::int32_t count);
  void close(std::size_t opened);

  // The class in a pointer slot: by name the first time, later as a reference to the first place.
  void class_tag(std::string_view class_name);
  // Notes a class name in bytes that were appended unchanged: `position` is that of the word 0xFFFFFFFF before the
  // name.
  void note_class(std::string_view class_name, std::size_t position);

  void null_pointer() { big(std::uint32_t{0}); }
  // A pointer to the object for which open_pointer() returned `opened`.
  void reference(std::size_t opened);

  void tobject(std::uint32_t bits = 0);
  void tnamed(std::string_view name, std::string_view title, std::uint32_t bits = 0);

 private:
  const std::uint32_t origin_;
  std::map<std::string, std::uint32_t, std::less<>> class_tags_;
};

}  // namespace tfile
