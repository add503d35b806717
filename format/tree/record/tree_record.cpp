// SPDX-License-Identifier: Apache-2.0
#include "tree/record/tree_record.h"

#include <algorithm>
#include <utility>

#include "tree/record/record_reader.h"

namespace tfile {
namespace {

// Deeper than any split class. Code that uses the record may recurse this deep.
constexpr std::size_t kBranchDepthMax = 128;

constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

// The order of branches in the result: parents before children, in file order. Branches that are in no list, and known
// only from a pointer of another branch, come last.
Result<std::vector<BranchIndex>> branch_order(const RecordReader& reader) {
  std::vector<BranchIndex> order;
  order.reserve(reader.branches.size());
  std::vector<char> listed(reader.branches.size(), 0);
  struct Waiting {
    BranchIndex branch;
    std::size_t depth;
  };
  std::vector<Waiting> stack;
  const auto walk = [&](BranchIndex root) {
    stack.push_back({root, 1});
    while (!stack.empty()) {
      const Waiting at = stack.back();
      stack.pop_back();
      if (listed[at.branch]) continue;
      if (at.depth > kBranchDepthMax) return false;
      listed[at.branch] = 1;
      order.push_back(at.branch);
      const std::vector<BranchIndex>& children = reader.branches[at.branch].children;
      for (auto child = children.rbegin(); child != children.rend(); ++child) stack.push_back({*child, at.depth + 1});
    }
    return true;
  };
  bool shallow = true;
  for (const BranchIndex top : reader.tree.top) shallow = shallow && walk(top);
  for (BranchIndex i = 0; i < reader.branches.size(); ++i) {
    if (!reader.branches[i].parent) shallow = shallow && walk(i);
  }
  if (!shallow) return fail(ErrorKind::damaged, "branches are nested deeper than " + std::to_string(kBranchDepthMax));
  return order;
}

class Renumbering {
 public:
  Renumbering(std::size_t size, const std::vector<std::uint32_t>& order) : to_(size, kNowhere) {
    for (std::size_t i = 0; i < order.size(); ++i) to_[order[i]] = static_cast<std::uint32_t>(i);
  }
  void apply(std::uint32_t& index) const { index = to_[index]; }
  void apply(std::vector<std::uint32_t>& indices) const {
    for (std::uint32_t& index : indices) apply(index);
  }
  void apply(std::optional<std::uint32_t>& index) const {
    if (index) apply(*index);
    if (index == kNowhere) index.reset();
  }

 private:
  std::vector<std::uint32_t> to_;
};

// Leaves in the order of their branches. Leaves without a branch are left out.
std::vector<LeafIndex> leaf_order(const RecordReader& reader, const std::vector<BranchIndex>& branches) {
  std::vector<LeafIndex> order;
  order.reserve(reader.leaves.size());
  for (const BranchIndex branch : branches) {
    const std::vector<LeafIndex>& leaves = reader.branches[branch].leaves;
    order.insert(order.end(), leaves.begin(), leaves.end());
  }
  return order;
}

TreeRecord assemble(RecordReader&& reader, const std::vector<BranchIndex>& branch_order,
                    const std::vector<LeafIndex>& leaf_order) {
  TreeRecord tree = std::move(reader.tree);
  const Renumbering branch_numbers(reader.branches.size(), branch_order);
  const Renumbering leaf_numbers(reader.leaves.size(), leaf_order);
  branch_numbers.apply(tree.top);
  tree.branches.reserve(branch_order.size());
  for (const BranchIndex from : branch_order) {
    BranchRecord& branch = tree.branches.emplace_back(std::move(reader.branches[from]));
    branch_numbers.apply(branch.parent);
    branch_numbers.apply(branch.children);
    branch_numbers.apply(branch.count);
    branch_numbers.apply(branch.count2);
    leaf_numbers.apply(branch.leaves);
  }
  tree.leaves.reserve(leaf_order.size());
  for (const LeafIndex from : leaf_order) {
    LeafRecord& leaf = tree.leaves.emplace_back(std::move(reader.leaves[from]));
    leaf.branch = *reader.owner[from];
    branch_numbers.apply(leaf.branch);
    leaf_numbers.apply(leaf.count);
  }
  return tree;
}

}  // namespace

Result<TreeRecord> read_tree(std::span<const std::byte> payload, std::uint32_t keylen, const std::string& class_name,
                             const StreamerInfos& infos) {
  RecordReader reader(payload, keylen, infos);
  TRY_VOID(reader.read(class_name));
  TRY(const std::vector<BranchIndex> branches, branch_order(reader));
  const std::vector<LeafIndex> leaves = leaf_order(reader, branches);
  return assemble(std::move(reader), branches, leaves);
}

Result<EntryIndex> read_entry_index(std::span<const std::byte> payload, std::uint32_t keylen,
                                    const std::string& class_name, const StreamerInfos& infos) {
  RecordReader reader(payload, keylen, infos);
  TRY_VOID(reader.read(class_name));
  if (!reader.stored_index) return fail(ErrorKind::not_found, "the tree has no index");
  TRY(const StoredIndex stored, *std::move(reader.stored_index));
  return entry_index_of(stored);
}

}  // namespace tfile
