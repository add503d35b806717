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
#include "tree/record/record_plan.h"
#include "tree/record/tree_record.h"

namespace tfile {

// Reads a tree's record from front to back. Branches and leaves get numbers in the order in which they are met, which
// may be anywhere: in the list they belong to, or where another branch or leaf mentions them first. Who belongs to whom
// is settled when a list names them. Damage inside an object that tells its end stays in that object.
class RecordReader {
 public:
  RecordReader(std::span<const std::byte> payload, std::uint32_t keylen, const StreamerInfos& infos);

  // To be called once; what was found is then in the members below.
  Result<> read(const std::string& class_name);

  // Branch and leaf indices in `tree.top` and in these are in the order met; the owner of leaves[i] is owner[i].
  TreeRecord tree;
  std::deque<BranchRecord> branches;  // a deque, since references stay good while it grows
  std::deque<LeafRecord> leaves;
  std::vector<std::optional<BranchIndex>> owner;

 private:
  // What a pointer slot leads to.
  struct Met {
    RecordKind kind = RecordKind::other;
    std::uint32_t index = 0;
  };
  // The record that the members being read belong to.
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
  Met read_slot(Cursor&, EmbeddedBasket* basket = nullptr);
  Met read_new_object(Cursor&, const ObjectTag&, EmbeddedBasket* basket);
  void read_branch(Cursor&, BranchIndex, std::string_view class_name);
  void read_oldest_branch(Cursor&, std::uint16_t version, Target&);
  void read_clones_branch(Cursor&, Target&);

  void take(const Met&, RecordField list, Target&);
  void adopt_branch(BranchIndex child, Target&);
  void adopt_leaf(LeafIndex, const Target&);
  void set_number(RecordField, std::int64_t, Target&);
  void set_string(RecordField, std::string_view, Target&);
  void warn(std::string text);

  std::span<const std::byte> payload_;
  std::uint32_t keylen_;
  RecordPlans plans_;
  BasketTables tables_;
  std::unordered_map<std::uint32_t, Met> met_;  // by ObjectTag::identity
  std::vector<char> open_;                      // branches that are being read
  std::vector<char> placed_;                    // branches that a list has named
  std::optional<BranchIndex> branch_ref_;
  std::string unknown_;  // a class of the tree itself that nobody describes
  bool branches_read_ = false;
  int depth_ = 0;
};

}  // namespace tfile
