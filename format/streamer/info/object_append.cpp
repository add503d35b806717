// SPDX-License-Identifier: Apache-2.0
#include "streamer/info/object_append.h"

#include "streamer/info/object_frame.h"

namespace tfile {

std::size_t ObjectAppender::open(std::uint16_t version) {
  const std::size_t opened = size();
  big(std::uint32_t{0});
  big(version);
  return opened;
}

std::size_t ObjectAppender::open_unversioned(std::uint32_t checksum) {
  const std::size_t opened = open(0);
  big(checksum);
  return opened;
}

std::size_t ObjectAppender::open_pointer(std::string_view class_name) {
  const std::size_t opened = size();
  big(std::uint32_t{0});
  class_tag(class_name);
  return opened;
}

std::size_t ObjectAppender::open_array(std::int32_t count) {
  const std::size_t opened = open(3);
  tobject();
  string("");
  big(count);
  big(std::int32_t{0});  // fLowerBound
  return opened;
}

void ObjectAppender::class_tag(std::string_view class_name) {
  if (const auto known = class_tags_.find(class_name); known != class_tags_.end()) {
    big(kClassBit | known->second);
  } else {
    note_class(class_name, size());
    big(kNewClass);
    text(class_name);
    u1(0);
  }
}

void ObjectAppender::note_class(std::string_view class_name, std::size_t position) {
  class_tags_.emplace(class_name, origin_ + static_cast<std::uint32_t>(position) + kTagOffset);
}

void ObjectAppender::close(std::size_t opened) {
  patch_big(opened, kByteCountBit | static_cast<std::uint32_t>(size() - opened - sizeof(std::uint32_t)));
}

void ObjectAppender::reference(std::size_t opened) { big(origin_ + static_cast<std::uint32_t>(opened) + kTagOffset); }

void ObjectAppender::tobject(std::uint32_t bits) {
  big(std::uint16_t{1});
  big(std::uint32_t{0});  // fUniqueID
  big(bits);
}

void ObjectAppender::tnamed(std::string_view name, std::string_view title, std::uint32_t bits) {
  const std::size_t opened = open(1);
  tobject(bits);
  string(name);
  string(title);
  close(opened);
}

}  // namespace tfile
