// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "bytes/appender.h"

namespace tfile {

// Writes streamed objects (docs/format.md, "Object streaming"): what object_frame.h reads.
class ObjectAppender : public Appender {
 public:
  // `origin`: what byte 0 counts as in tags: fKeylen for a payload.
  explicit ObjectAppender(std::uint32_t origin) : origin_(origin) {}

  // The version header of an object; close() with what it gave, behind the object, writes the byte count.
  [[nodiscard]] std::size_t open(std::uint16_t version);
  // The same for a class that is told by its checksum.
  [[nodiscard]] std::size_t open_unversioned(std::uint32_t checksum);
  // A pointer slot with an object of that class in it, which begins with its own header.
  [[nodiscard]] std::size_t open_pointer(std::string_view class_name);
  // A TObjArray in place, of `count` slots, which follow.
  [[nodiscard]] std::size_t open_array(std::int32_t count);
  void close(std::size_t opened);

  // The class in a pointer slot: its name where it is the first of its kind, else where that stands.
  void class_tag(std::string_view class_name);
  // Names of classes in bytes that were appended as they are: the word 0xFFFFFFFF before the name stands at `position`.
  void note_class(std::string_view class_name, std::size_t position);

  void null_pointer() { big(std::uint32_t{0}); }
  // A pointer to the object whose open_pointer() gave `opened`.
  void reference(std::size_t opened);

  void tobject(std::uint32_t bits = 0);
  void tnamed(std::string_view name, std::string_view title, std::uint32_t bits = 0);

 private:
  const std::uint32_t origin_;
  std::map<std::string, std::uint32_t, std::less<>> class_tags_;
};

}  // namespace tfile
