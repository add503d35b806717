// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "format/container/file_image.h"

namespace tfile::test {

// Appends streamed objects by the description of the format alone (docs/format.md, "Object streaming").
class ObjectImage : public Bytes {
 public:
  // `origin`: the position of byte 0 as counted in tags (fKeylen).
  explicit ObjectImage(std::uint32_t origin = 0) : origin_(origin) {}
  std::uint32_t origin() const { return origin_; }

  std::size_t open(std::uint16_t version) {
    const std::size_t at = size();
    put(std::uint32_t{0});
    put(version);
    return at;
  }
  // Fills in the byte count of the object that begins at `at`.
  void close(std::size_t at) { patch(at, static_cast<std::uint32_t>(0x40000000 | (size() - at - 4))); }

  void tobject(bool referenced = false) {
    put(std::uint16_t{1});
    put(std::uint32_t{0});
    put(std::uint32_t{referenced ? 0x03000010u : 0x03000000u});
    if (referenced) put(std::uint16_t{7});
  }
  void tnamed(std::string_view name, std::string_view title) {
    const std::size_t at = open(1);
    tobject();
    put_string(name);
    put_string(title);
    close(at);
  }

  // Begins a pointer slot with an object; close() ends it.
  std::size_t open_object(const std::string& class_name) {
    const std::size_t at = size();
    put(std::uint32_t{0});
    if (const auto known = classes_.find(class_name); known != classes_.end()) {
      put(known->second | 0x80000000u);
    } else {
      classes_[class_name] = identity(size());
      put(std::uint32_t{0xFFFFFFFF});
      put_text(class_name);
      put(std::uint8_t{0});
    }
    return at;
  }
  std::uint32_t identity(std::size_t at) const { return static_cast<std::uint32_t>(at) + 2 + origin_; }
  void reference(std::uint32_t identity) { put(identity); }
  void null() { put(std::uint32_t{0}); }

  // Begins a TObjArray of `count` slots; close() ends it.
  std::size_t open_array(std::int32_t count) {
    const std::size_t at = open(3);
    tobject();
    put_string("");
    put(count);
    put(std::int32_t{0});
    return at;
  }

 private:
  std::uint32_t origin_;
  std::map<std::string, std::uint32_t> classes_;
};

}  // namespace tfile::test
