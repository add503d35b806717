// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tfile/result.h"

namespace tfile {

// TStreamerElement::fType (docs/format.md, "Streamer elements"). 20 + t: fixed array of t; 40 + t: `T* p; //[n]`.
namespace element_type {
inline constexpr int kBase = 0, kChar = 1, kShort = 2, kInt = 3, kLong = 4, kFloat = 5, kCounter = 6, kCharStar = 7,
                     kDouble = 8, kDouble32 = 9, kLegacyChar = 10, kUChar = 11, kUShort = 12, kUInt = 13, kULong = 14,
                     kBits = 15, kLong64 = 16, kULong64 = 17, kBool = 18, kFloat16 = 19;
inline constexpr int kOffsetArray = 20, kOffsetPointer = 40;
inline constexpr int kObject = 61, kAny = 62, kObjectp = 63, kObjectP = 64, kTString = 65, kTObject = 66, kTNamed = 67,
                     kAnyp = 68, kAnyP = 69, kAnyPnoVT = 70, kStlp = 71;
inline constexpr int kStl = 300, kStlString = 365, kStreamer = 500, kStreamLoop = 501;
}  // namespace element_type

// The class of the element's own record; it decides which more fields there are.
enum class ElementKind : std::uint8_t {
  base,
  basic,
  basic_pointer,
  loop,
  object,
  object_any,
  object_pointer,
  object_any_pointer,
  string,
  stl,
  stl_string,
  artificial,
  unknown
};

struct StreamerElement {
  ElementKind kind = ElementKind::unknown;
  std::string name, title, type_name;
  std::int32_t type = -1;
  std::int32_t size = 0, array_length = 0, array_dim = 0;
  std::array<std::int32_t, 5> max_index{};
  std::int32_t base_version = 0;    // base
  std::uint32_t base_checksum = 0;  // base; 0 if absent
  std::int32_t count_version = 0;   // basic_pointer, loop
  bool has_flag = true;             // basic_pointer: a byte precedes its numbers (not in old classes)
  std::string count_name, count_class;
  std::int32_t stl_type = 0, stl_content = 0;  // stl: fSTLtype, fCtype
};

inline bool is_base(const StreamerElement& e) { return e.kind == ElementKind::base || e.type == element_type::kBase; }

struct StreamerInfo {
  std::string class_name;
  std::uint32_t checksum = 0;
  std::int32_t version = 0;
  std::vector<StreamerElement> elements;
};

// The StreamerInfo of a file, completed by built-in descriptions of ROOT's own classes that the file does not describe.
class StreamerInfos {
 public:
  // `payload`: the decompressed StreamerInfo record (a TList); empty for a file without one. Unreadable parts are left
  // out and reported in `warnings`. `keylen`: fKeylen of the record, since object tags count from the start of the key.
  static StreamerInfos read(std::span<const std::byte> payload, std::uint32_t keylen,
                            std::vector<std::string>& warnings);

  // Exactly that version, or nullptr. Descriptions in the file take precedence over the built-in ones.
  const StreamerInfo* find(std::string_view class_name, int version) const;
  const StreamerInfo* find_by_checksum(std::string_view class_name, std::uint32_t checksum) const;
  const StreamerInfo* newest(std::string_view class_name) const;
  // The newest version of another class of the same template as `class_name`; nullptr if there is none, or it is not a
  // template.
  const StreamerInfo* of_same_template(std::string_view class_name) const;
  // Whether any class has an array that is counted by a member of this name.
  bool is_counter(const std::string& member) const { return counters_.count(member) != 0; }
  // The element type of an enumeration's own numbers, or of a typedef: 0 if the file uses `type_name` as one without
  // telling how long it is, nullopt if the file does not use it so.
  std::optional<int> enumeration(const std::string& type_name) const;
  // The classes that the file describes and that derive from `class_name`, nearest first.
  std::vector<std::string> heirs(std::string_view class_name) const;
  const std::vector<std::unique_ptr<StreamerInfo>>& from_file() const { return from_file_; }

  std::size_t memory() const;  // estimated, of the file's descriptions

 private:
  void note_enumeration(const StreamerInfo&, const StreamerElement&);
  void note_enumeration(const std::string& name, int own);

  std::vector<std::unique_ptr<StreamerInfo>> from_file_;
  std::unordered_map<std::string, std::vector<const StreamerInfo*>> by_name_;
  std::unordered_map<std::string, const StreamerInfo*> by_template_;
  std::unordered_set<std::string> counters_;
  std::unordered_map<std::string, int> enumerations_;
  std::unordered_map<std::string, std::vector<std::string>> direct_heirs_;  // derived classes that the file describes
};

// The members of ROOT's own classes (TTree, TBranch, TLeaf..., their bases, TAtt*, TObjArray), in the versions found in
// files without StreamerInfo. Built once.
const std::vector<StreamerInfo>& builtin_streamer_infos();

}  // namespace tfile
