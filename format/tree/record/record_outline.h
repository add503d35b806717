// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "streamer/info/streamer_info.h"
#include "tfile/result.h"

namespace tfile {

// A stretch of a tree's record, in bytes from its first; the slots of a pointer and the numbers of an array with
// theirs.
struct Stretch {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
  explicit operator bool() const { return end > begin; }
};

// A word that has to change when bytes before it come or go.
struct RecordMark {
  enum class Kind : std::uint8_t {
    frame,      // counts the bytes up to `other`
    class_tag,  // names a class, or says where that was named; `class_name`
    reference,  // to the object whose slot is at `other`
  };
  Kind kind = Kind::frame;
  std::uint32_t at = 0;
  std::uint32_t other = 0;  // class_tag: where the tag and its name end
  std::string_view class_name;
};

// A member that is written anew; its element type tells how (docs/format.md, "Streamer elements").
struct MemberPlace {
  Stretch bytes;
  int type = 0;
};

// A TObjArray in place: where its count stands, and each of its slots.
struct ArrayPlace {
  Stretch count;
  std::vector<Stretch> slots;
  std::uint32_t end = 0;  // behind the last slot
};

enum class TreeMember : std::uint8_t {
  name,
  entries,
  tot_bytes,
  zip_bytes,
  flushed_bytes,
  auto_flush,
  cluster_ranges,
  cluster_range_end,
  cluster_size,
  count_
};
enum class BranchMember : std::uint8_t {
  basket_size,
  entry_offset_len,
  write_basket,
  entry_number,
  max_baskets,
  entries,
  tot_bytes,
  zip_bytes,
  basket_bytes,
  basket_entry,
  basket_seek,
  count_
};

struct LeafPlace {
  Stretch slot;
  std::string_view name;
  MemberPlace len, maximum;
};

struct BranchPlace {
  Stretch slot;
  std::string_view name;
  std::array<MemberPlace, static_cast<std::size_t>(BranchMember::count_)> members;
  ArrayPlace baskets;
  std::vector<Stretch> leaf_slots;  // the objects themselves or references
  const MemberPlace& operator[](BranchMember member) const { return members[static_cast<std::size_t>(member)]; }
};

// What stands where in a tree's record: all words that depend on their place, and the members that writing changes.
struct RecordOutline {
  std::vector<RecordMark> marks;  // in order of `at`; frames before what they hold
  std::array<MemberPlace, static_cast<std::size_t>(TreeMember::count_)> tree;
  ArrayPlace branches, leaves;          // of the tree; slots of `branches` in the order of `top`
  std::vector<BranchPlace> top;         // by slot of `branches`; one that is a reference has no name
  std::vector<LeafPlace> leaf_objects;  // all leaves, in the order in which they stand in the record
  const MemberPlace& operator[](TreeMember member) const { return tree[static_cast<std::size_t>(member)]; }
};

// An integer of 1, 2, 4 or 8 bytes.
std::int64_t number_at(std::span<const std::byte> bytes);

// `payload` must outlive the result. Errors: damaged; unsupported, where a part of the record cannot be followed (then
// nothing before it may change its length).
Result<RecordOutline> outline_record(std::span<const std::byte> payload, std::uint32_t keylen,
                                     const std::string& class_name, const StreamerInfos& infos);

}  // namespace tfile
