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

// A stretch of a tree's record, in bytes from the start of the record. It includes the slot of a pointer, and the
// numbers of an array.
struct Stretch {
  std::uint32_t begin = 0, end = 0;
  std::uint32_t size() const { return end - begin; }
  explicit operator bool() const { return end > begin; }
};

// A word that must change if bytes before it are inserted or removed.
struct RecordMark {
  enum class Kind : std::uint8_t {
    frame,      // counts the bytes up to `other`
    class_tag,  // names a class (`class_name`), or gives the place where it was named
    reference,  // to the object whose slot is at `other`
  };
  Kind kind = Kind::frame;
  std::uint32_t at = 0;
  std::uint32_t other = 0;  // class_tag: the end of the tag and its name
  std::string_view class_name;
};

// A member that is rewritten; its element type gives the form (docs/format.md, "Streamer elements").
struct MemberPlace {
  Stretch bytes;
  int type = 0;
};

// A TObjArray in place: its count, and its slots.
struct ArrayPlace {
  Stretch count;
  std::vector<Stretch> slots;
  std::uint32_t end = 0;  // after the last slot
};

enum class TreeMember : std::uint8_t {
  name,
  entries,
  tot_bytes,
  zip_bytes,
  weight,
  flushed_bytes,
  auto_flush,
  cluster_ranges,
  cluster_range_end,
  cluster_size,
  aliases,
  index_values,  // fIndexValues, fIndex, fTreeIndex: which entry has a given number
  index,
  tree_index,
  friends,
  user_info,
  branch_ref,
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
  MemberPlace compress, file_name, maximum;  // of some branches only
  ArrayPlace baskets;
  std::vector<Stretch> leaf_slots;    // leaf objects or references to them
  std::vector<Stretch> branch_slots;  // of the branches below it, likewise
  const MemberPlace& operator[](BranchMember member) const { return members[static_cast<std::size_t>(member)]; }
};

// The layout of a tree's record: all words that depend on their place, and the members that writing changes.
struct RecordOutline {
  std::vector<RecordMark> marks;  // in order of `at`; frames before their content
  std::array<MemberPlace, static_cast<std::size_t>(TreeMember::count_)> tree;
  ArrayPlace branches, leaves;          // of the tree; slots of `branches` in the order of `top`
  std::vector<BranchPlace> top;         // by slot of `branches`; one that is a reference has no name
  std::vector<BranchPlace> below;       // all other branches, in the order of the record
  std::vector<LeafPlace> leaf_objects;  // all leaves, in the order of the record
  // Why what users keep with the tree (fUserInfo) cannot be followed; "" if it can. Only a null pointer may then be in
  // its place, where bytes before it change their number.
  std::string lost_user_info;
  const MemberPlace& operator[](TreeMember member) const { return tree[static_cast<std::size_t>(member)]; }
};

// The mark of a slot that refers to an object elsewhere; null: the slot has an object of its own, or none.
const RecordMark* reference_at(const RecordOutline&, std::uint32_t slot_begin);

// The branch below another one whose object is in that slot; null: it is elsewhere.
const BranchPlace* branch_below(const RecordOutline&, Stretch slot);

// An integer of 1, 2, 4 or 8 bytes.
std::int64_t number_at(std::span<const std::byte> bytes);

// `payload` must outlive the result. Errors: damaged; unsupported (a part of the record other than fUserInfo cannot be
// followed, so nothing before it may change its length).
Result<RecordOutline> outline_record(std::span<const std::byte> payload, std::uint32_t keylen,
                                     const std::string& class_name, const StreamerInfos& infos);
// The same, to look at the members of the tree alone: objects that cannot be followed are passed over, such as branches
// of TBranchClones, and what else it says of branches may be wrong. Error unsupported: the tree's own class is not
// described.
Result<RecordOutline> outline_members(std::span<const std::byte> payload, std::uint32_t keylen,
                                      const std::string& class_name, const StreamerInfos& infos);

}  // namespace tfile
