// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "container/recorded_table.h"
#include "streamer/info/known_descriptions.h"
#include "tfile/table_copy.h"
#include "tree/copy/basket_cut.h"
#include "tree/copy/cut_baskets.h"
#include "tree/copy/source_tree.h"
#include "tree/copy/unit_plan.h"
#include "tree/write/tree_record_write.h"

namespace tfile {

// A tree made of the baskets of others. Its record is that of the first of them, with the places of the new baskets. So
// what nobody knows in it stays, too. See TableCopy for rules about threads.
class TreeCopy final : public RecordedTable, public TableCopy {
 public:
  // `class_name`: of its key.
  TreeCopy(TreePlace place, std::string class_name, CopyOptions options)
      : place_(std::move(place)),
        class_name_(std::move(class_name)),
        options_(std::move(options)),
        cut_baskets_(options_.cut_memory) {}
  TableCopy* copy() override { return this; }

  Result<> add_table(std::shared_ptr<const File>, const KeyInfo&, const KeptEntries*) override;
  const std::vector<std::string>& left_out() const override { return left_out_; }
  std::size_t unit_count() const override { return plan_.baskets.size(); }
  Unit unit(std::size_t) const override;
  std::string name_of_unit(std::size_t) const override;
  Result<Part> encode(std::size_t unit, std::span<const std::span<const std::byte>> stored) const override;
  Result<> add_unit(std::size_t unit, Part&, std::uint64_t address) override;
  Result<> end_table() override;

  Result<Draft> draft(std::uint32_t keylen) const override;
  Result<std::vector<std::byte>> place(Draft draft, RecordPlaces&) override { return std::move(draft.payload); }
  void placed() override {}
  const std::string& class_name() const override { return class_name_; }
  std::vector<std::string> classes() const override { return {}; }
  void rename(std::string name) override { place_.name = std::move(name); }

 private:
  // A branch of the copy.
  struct Branch {
    bool copied = false;
    BranchBaskets baskets;
    std::int64_t maximum = 0;  // fMaximum of a TBranchElement
  };
  // A leaf of the first tree with its largest value, and the place that says it.
  struct LeafMaximum {
    BranchIndex branch = 0;
    const LeafPlace* place = nullptr;
    std::int64_t maximum = 0, len = 0;
  };

  const SourceTree& first() const { return *first_; }
  const SourceTree& present() const { return next_ ? *next_ : *first_; }
  // One tree, with all of its entries and clusters.
  bool is_as_it_was() const { return !renumbers_ && options_.cluster_bytes == 0; }
  Result<> take_form();
  void leave_out_missing();
  void leave_out(const SourceTree&, BranchIndex, const std::string& why);
  std::vector<bool> copied_branches() const;
  void note_other_numbers();
  void note_other_extras();
  void note_maxima(const SourceTree&);
  Result<std::string> reason_not_to_cut(const BranchRecord&) const;
  void plan(bool keeps_all);
  Result<bool> leave_out_what_cannot_be_cut(const SourceTree&);
  CutForm cut_form(const BranchRecord&) const;
  Result<Part> copied_basket(const CopiedBasket&, std::span<const std::byte> stored) const;
  Result<CutBaskets::ContentPtr> content_to_cut(BranchIndex, std::size_t number, std::span<const std::byte> stored,
                                                bool goes_on) const;
  Result<Part> cut(const CopiedBasket&, std::span<const std::span<const std::byte>> stored) const;
  ChangedBranch changed(BranchIndex) const;
  std::vector<std::size_t> dropped_slots() const;

  TreePlace place_;
  const std::string class_name_;
  const CopyOptions options_;
  std::unique_ptr<const SourceTree> first_, next_;
  KnownDescriptions described_;       // of the trees that were added
  KeptEntries kept_;                  // of the tree that was added last
  std::int64_t present_entries_ = 0;  // how many it adds
  UnitPlan plan_;
  std::vector<Branch> branches_;  // by number in the first tree
  std::vector<LeafMaximum> maxima_;
  std::vector<std::string> left_out_;
  std::int64_t entries_ = 0;  // of the tables that have ended
  Clusters clusters_;
  bool renumbers_ = false;  // entries were left out or joined
  mutable CutBaskets cut_baskets_;
};

}  // namespace tfile
