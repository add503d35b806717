// SPDX-License-Identifier: Apache-2.0
#include "tree/tree_writer.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "tree/basket_encode.h"
#include "tree/branch_form.h"
#include "tree/tree_record_write.h"

namespace tfile {
namespace {

// A record is one object, whose bytes a frame counts.
constexpr std::size_t kRecordMax = 0x3FFFFFFF;

// What ROOT has in the StreamerInfo of any file with a tree.
constexpr const char* kClassesOfTrees[] = {"TTree",  "TNamed", "TObject", "TAttLine", "TAttFill", "TAttMarker", "ROOT::TIOFeatures",
                                           "TBranch", "TLeaf",  "TList",   "TSeqCollection", "TCollection", "TString",
                                           "TBranchRef", "TRefTable", "TObjArray"};

class NewTreeWriter : public TreeWriter {
 public:
  explicit NewTreeWriter(TreePlace place) : place_(std::move(place)), name_(place_.name) {}

  std::int64_t committed_entries() const override { return 0; }
  const CommittedForm& committed_form() const override { return committed_; }

  Result<> add_branches(std::span<const OfferedColumn> columns, const TableForm& form) override {
    for (const BranchForm& branch : form.branches) {
      if (numbers_.count(branch.name) != 0) return fail(ErrorKind::exists, branch.name + ": a branch of that name is there");
    }
    for (const BranchForm& branch : form.branches) {
      numbers_.emplace(branch.name, branches_.size());
      WrittenBranch made = written_branch(branch, columns);
      made.basket_title = place_.name;
      branches_.push_back({std::move(made), {}, false});
    }
    for (const BranchForm& branch : form.branches) {
      if (const auto counter = numbers_.find(branch.counter); branch.kind == BranchForm::Kind::counted_array && counter != numbers_.end())
        branches_[counter->second].form.is_counter = true;
    }
    return {};
  }

  Result<Basket> encode(std::size_t branch, EntryRange entries, std::span<const std::span<const std::byte>> columns) const override {
    return encode_basket(branches_[branch].form, place_, entries, columns);
  }

  void add_basket(std::size_t branch, const Basket& basket, std::uint64_t address) override {
    BranchBaskets& baskets = branches_[branch].baskets;
    baskets.add(address, static_cast<std::uint32_t>(basket.record.size()), basket.entries, basket.raw_bytes);
    baskets.largest = std::max(baskets.largest, basket.largest);
  }

  void end_cluster(std::int64_t entries, std::int64_t auto_flush, std::span<const std::int32_t> basket_bytes) override {
    if (entries > numbers_of_tree_.entries) clusters_.end_cluster(numbers_of_tree_.entries, entries, auto_flush);
    numbers_of_tree_.entries = entries;
    for (std::size_t i = 0; i < basket_bytes.size() && i < branches_.size(); ++i) branches_[i].baskets.basket_size = basket_bytes[i];
  }

  Result<std::vector<std::byte>> record(std::uint32_t keylen) const override {
    TreeNumbers numbers = numbers_of_tree_;
    std::vector<BranchToWrite> branches;
    for (const Branch& branch : branches_) {
      if (branch.is_dropped) continue;
      if (branch.baskets.entries != numbers.entries) {
        return fail(ErrorKind::invalid, branch.form.name + ": it has " + std::to_string(branch.baskets.entries) + " entries, the table " +
                                            std::to_string(numbers.entries));
      }
      numbers.tot_bytes += branch.baskets.tot_bytes;
      numbers.zip_bytes += branch.baskets.zip_bytes;
      branches.push_back({&branch.form, &branch.baskets});
    }
    std::vector<std::byte> payload = write_tree(keylen, name_, place_.title, numbers, clusters_, branches, place_.compression.settings());
    if (payload.size() > kRecordMax) return fail(ErrorKind::unsupported, "the tree's record would be larger than 1 GiB");
    return payload;
  }

  const std::string& class_name() const override { return class_name_; }

  std::vector<std::string> classes() const override {
    std::vector<std::string> classes(std::begin(kClassesOfTrees), std::end(kClassesOfTrees));
    std::set<std::string> more;
    for (const Branch& branch : branches_) {
      const std::vector<std::string> used = classes_of(branch.form);
      more.insert(used.begin(), used.end());
    }
    classes.insert(classes.end(), more.begin(), more.end());
    return classes;
  }

  Result<> drop_branch(std::string_view name) override {
    const auto found = numbers_.find(std::string(name));
    if (found == numbers_.end()) return fail(ErrorKind::not_found, std::string(name) + ": no such branch");
    branches_[found->second].is_dropped = true;
    numbers_.erase(found);
    return {};
  }

  void rename(std::string name) override { name_ = std::move(name); }

 private:
  struct Branch {
    WrittenBranch form;
    BranchBaskets baskets;
    bool is_dropped = false;
  };

  TreePlace place_;
  std::string name_;  // baskets keep the name that the tree had when it was made
  std::string class_name_ = "TTree";
  CommittedForm committed_;
  std::vector<Branch> branches_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of branches that are not dropped, by name
  TreeNumbers numbers_of_tree_;
  Clusters clusters_;
};

}  // namespace

std::unique_ptr<TreeWriter> TreeWriter::create(TreePlace place) { return std::make_unique<NewTreeWriter>(std::move(place)); }

}  // namespace tfile
