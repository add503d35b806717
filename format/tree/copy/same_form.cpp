// SPDX-License-Identifier: Apache-2.0
#include "tree/copy/same_form.h"

#include <algorithm>
#include <string>

namespace tfile {
namespace {

bool is_same_branch(const BranchRecord& a, const BranchRecord& b) {
  return a.class_name == b.class_name && a.name == b.name && a.parent == b.parent && a.leaves == b.leaves &&
         a.element_class == b.element_class && a.clones_class == b.clones_class && a.checksum == b.checksum &&
         a.class_version == b.class_version && a.id == b.id && a.type == b.type && a.streamer_type == b.streamer_type &&
         a.count == b.count && a.count2 == b.count2 && a.io_bits == b.io_bits &&
         (a.entry_offset_len != 0) == (b.entry_offset_len != 0);
}

// The title has the dimensions and the range of packed numbers.
bool is_same_leaf(const LeafRecord& a, const LeafRecord& b) {
  return a.class_name == b.class_name && a.name == b.name && (a.len == b.len || a.class_name == "TLeafC") &&
         a.len_type == b.len_type && a.offset == b.offset && a.is_unsigned == b.is_unsigned && a.count == b.count &&
         a.element_id == b.element_id && a.element_type == b.element_type;
}

// The first of these classes that entries of a branch may hold; none: "".
bool may_hold_any(const SourceTree& tree, const BranchRecord& branch, const std::vector<std::string>& classes) {
  if (branch.class_name == "TBranch" || classes.empty()) return false;
  if (branch.class_name == "TBranchObject") return true;  // its class, or one derived from it
  const std::vector<std::string> types{branch.element_class, branch.clones_class};
  return may_hold(*tree.infos, types, classes);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

tl::unexpected<Error> refuse(const std::string& what) { return fail(ErrorKind::unsupported, what); }

Result<> check_branches(const SourceTree& first, const SourceTree& tree, const std::vector<bool>& copied,
                        const std::vector<std::string>& contradicted) {
  const TreeRecord& mine = first.tree.record;
  const TreeRecord& other = tree.tree.record;
  for (BranchIndex i = 0; i < mine.branches.size(); ++i) {
    if (!is_same_branch(mine.branches[i], other.branches[i]))
      return refuse("branch " + path_of_branch(other, i) + " is not the branch of the first tree");
    const auto missing = tree.missing.find(other.branches[i].file_name);
    if (copied[i] && missing != tree.missing.end())
      return fail(ErrorKind::not_found, "branch " + path_of_branch(other, i) + ": " + missing->second);
    if (other.branches[i].entries != other.entries && !other.branches[i].baskets.seek.empty())
      return refuse("branch " + path_of_branch(other, i) + " has fewer entries than the tree");
    if (copied[i] && may_hold_any(tree, other.branches[i], contradicted))
      return refuse("branch " + path_of_branch(other, i) +
                    ": a class has other members than before in the same version: " + joined(contradicted));
  }
  return {};
}

}  // namespace

Result<> check_same_form(const SourceTree& first, const SourceTree& tree, const std::vector<bool>& copied,
                         const KnownDescriptions& described) {
  const TreeRecord& mine = first.tree.record;
  const TreeRecord& other = tree.tree.record;
  if (mine.class_name != other.class_name) return refuse("it is a " + other.class_name);
  if (mine.branches.size() != other.branches.size() || mine.leaves.size() != other.leaves.size())
    return refuse("its branches differ from those of the first");
  TRY_VOID(check_branches(first, tree, copied, described.contradicted_by(*tree.infos)));
  for (LeafIndex i = 0; i < mine.leaves.size(); ++i) {
    const std::string branch = "branch " + path_of_branch(other, other.leaves[i].branch);
    if (!is_same_leaf(mine.leaves[i], other.leaves[i]))
      return refuse(branch + " has a different type than in the first");
    if (mine.leaves[i].title != other.leaves[i].title)
      return refuse(branch + " is " + other.leaves[i].title + ", in the first " + mine.leaves[i].title);
  }
  return {};
}

}  // namespace tfile
