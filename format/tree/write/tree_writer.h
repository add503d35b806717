// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "container/recorded_table.h"
#include "streamer/info/streamer_info.h"
#include "tfile/source.h"
#include "tfile/writer.h"
#include "tree/write/basket_encode.h"
#include "tree/write/committed_tree.h"
#include "tree/write/tree_record_write.h"

namespace tfile {

// The record of a tree that grows. See TableWriter for rules about threads. A new tree has no committed one; all of its
// branches were added.
class TreeWriter final : public RecordedTable, public TableWriter {
 public:
  TableWriter* writer() override { return this; }

  static std::unique_ptr<TreeWriter> create(TreePlace);

  // Opens an existing record: the decompressed payload of a key of class `class_name`, and the length of that key.
  // Unknown parts of the record stay unchanged, and so does the title. The name is that in `place`. `source`: the file,
  // to look at keys of baskets. Blocks. Errors: damaged, unsupported (objects in the record that the file does not
  // describe), io.
  static Result<std::unique_ptr<TreeWriter>> open(TreePlace place, std::span<const std::byte> payload,
                                                  std::uint32_t keylen, const std::string& class_name,
                                                  const StreamerInfos& infos, const Source& source);

  TableFormat format() const override { return TableFormat::tree; }
  std::int64_t committed_entries() const override;
  const CommittedForm& committed_form() const override;
  Result<> add_fields(std::span<const InputColumn> columns, const WriteSchema& form) override;
  Result<Part> encode(std::size_t branch, const OfferedPart&) const override;
  void add_sample(std::size_t branch, const Part& basket) override;
  ClusterSizes cluster_sizes(std::uint64_t cluster_bytes) const override;
  std::optional<std::int64_t> end_of_cluster(std::int64_t) const override { return std::nullopt; }
  void leave_out_stored(Part&) override {}  // every basket has its own key
  void add_part(std::size_t branch, Part& basket, std::uint64_t address) override;
  void end_cluster(std::int64_t entries, std::int64_t cluster_entries) override;
  Result<> drop_field(std::string_view name) override;

  // The decompressed payload for a key of `keylen` bytes. Errors: as draft().
  Result<std::vector<std::byte>> record(std::uint32_t keylen) const;

  Result<Draft> draft(std::uint32_t keylen) const override;
  Result<std::vector<std::byte>> place(Draft draft, RecordPlaces&) override { return std::move(draft.payload); }
  void placed() override {}
  const std::string& class_name() const override;  // "TTree", or that of the existing key
  std::vector<std::string> classes() const override;
  std::vector<const StreamerInfo*> made_classes() const override;
  void rename(std::string name) override;

 private:
  struct Branch {
    WrittenBranch form;
    BranchBaskets baskets;
    EntryBytes bytes = {};  // according to a sample
  };

  explicit TreeWriter(TreePlace place);
  TreeWriter(TreePlace place, std::string class_name, CommittedTree committed);

  std::size_t committed_branches() const;
  bool is_there(const std::string& name) const;
  void add_branch(Branch branch);
  std::unordered_set<std::size_t> added_branches_left_out() const;
  std::vector<std::byte> made(std::uint32_t keylen, TreeChanges& changes) const;
  std::vector<std::byte> edited(std::uint32_t keylen, TreeChanges& changes) const;

  TreePlace place_;
  std::string name_;  // baskets keep the name that the tree had when opened
  std::string class_name_ = "TTree";
  std::unique_ptr<const CommittedTree> committed_;
  std::vector<Branch> branches_;                             // those of the committed form, then the added ones
  std::unordered_map<std::string, std::size_t> numbers_;     // in branches_, by name; without dropped ones
  std::unordered_set<std::string> members_;                  // names of the branches below those that have numbers
  std::unordered_map<std::string_view, std::size_t> slots_;  // of the committed tree, by name
  std::vector<std::size_t> dropped_slots_;
  std::set<std::size_t> dropped_;                                  // numbers in branches_
  std::vector<std::unique_ptr<const StreamerInfo>> made_classes_;  // of added branches
  std::int64_t entries_ = 0;
  Clusters clusters_;
};

}  // namespace tfile
