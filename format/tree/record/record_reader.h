// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytes/cursor.h"
#include "streamer/info/object_frame.h"
#include "tree/record/basket_table.h"
#include "tree/record/friend_records.h"
#include "tree/record/record_plan.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Reads a tree's record from front to back. Branches and leaves are numbered in the order in which they occur, which
// may be anywhere: in their own list, or where another branch or leaf first refers to them. Their owners are known once
// a list contains them. Damage inside an object that has a byte count stays inside that object.
class RecordReader {
 public:
  RecordReader(std::span<const std::byte> payload, std::uint32_t keylen, const StreamerInfos& infos);

  // Call once. The results are then in the members below.
  Result<> read(const std::string& class_name);

  // Branches and leaves, by the indices in `tree.top` and in these records; owner[i] is the owner of leaves[i].
  TreeRecord tree;
  std::deque<BranchRecord> branches;  // a deque keeps references valid while it grows
  std::deque<LeafRecord> leaves;
  std::vector<std::optional<BranchIndex>> owner;
  std::optional<Result<StoredIndex>> stored_index;  // of the tree; its numbers are views into the payload

 private:
  // The object of a pointer slot.
  struct Met {
    RecordKind kind = RecordKind::other;
    std::uint32_t index = 0;
  };
  // The record to which the members being read belong.
  struct Target {
    RecordKind kind = RecordKind::other;
    BranchIndex index = 0;
    TreeRecord* tree = nullptr;
    BranchRecord* branch = nullptr;
    LeafRecord* leaf = nullptr;
    BasketArrays* arrays = nullptr;  // of the branch
  };

  void read_object(Cursor&, std::string_view class_name, Target&);
  void run(Cursor&, const RecordPlan&, const Frame&, Target&);
  void run_step(Cursor&, const RecordStep&, std::span<std::int64_t> counts, Target&);
  void skip_object(Cursor&, std::string_view class_name);
  void read_features(Cursor&, Target&);
  void read_list(Cursor&, RecordField, Target&);
  void read_numbers(Cursor&, const RecordStep&, std::int64_t count, Target&);
  void read_pointer(Cursor&, RecordField, Target&);
  void read_beside(Cursor&, RecordField);
  Met read_slot(Cursor&, EmbeddedBasket* basket = nullptr);
  Met read_new_object(Cursor&, const ObjectTag&, EmbeddedBasket* basket);
  void read_branch(Cursor&, BranchIndex, std::string_view class_name);
  void read_oldest_branch(Cursor&, std::uint16_t version, Target&);
  void read_clones_branch(Cursor&, Target&);

  void take(const Met&, RecordField list, Target&);
  void adopt_branch(BranchIndex child, Target&);
  void adopt_leaf(LeafIndex, const Target&);
  static std::int64_t* wide_number(RecordField, Target&);
  static void set_number(RecordField, std::int64_t, Target&);
  void set_string(RecordField, std::string_view, Target&);
  void set_named(const NamedText&, Target&);
  void warn(std::string text);

  std::span<const std::byte> payload_;
  std::uint32_t keylen_;
  RecordPlans plans_;
  BasketTables tables_;
  std::unordered_map<std::uint32_t, Met> met_;  // by ObjectTag::identity
  std::vector<char> open_;                      // branches being read
  std::vector<char> placed_;                    // branches that are in a list
  std::optional<BranchIndex> branch_ref_;
  std::string unknown_;  // a class of the tree itself that is not described
  bool branches_read_ = false;
  int depth_ = 0;
};

// Reads a TBasket inside a tree's record, from its key on (docs/format.md, "Embedded baskets"). Leaves `index` at 0. A
// basket that was never filled has no data. A failure stays with the cursor.
EmbeddedBasket read_embedded_basket(Cursor& in);

}  // namespace tfile
