// SPDX-License-Identifier: Apache-2.0
#include "tree/branch_layout.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

TreeRecord one_leaf(const std::string& class_name, std::int32_t len, const std::string& title) {
  TreeRecord tree;
  LeafRecord leaf;
  leaf.class_name = class_name;
  leaf.name = "x";
  leaf.title = title;
  leaf.len = len;
  tree.leaves.push_back(leaf);
  BranchRecord branch;
  branch.class_name = "TBranch";
  branch.name = "x";
  branch.leaves = {0};
  tree.branches.push_back(branch);
  tree.top = {0};
  return tree;
}

TEST(BranchLayout, FixedShapesComeFromTheTitle) {
  const BranchLayout layout = branch_layout(one_leaf("TLeafD", 6, "x[2][3]"), 0, StreamerInfos(), false);
  EXPECT_EQ(layout.reason, "");
  EXPECT_EQ(layout.stream.form, Stream::Form::flat);
  EXPECT_EQ(layout.stream.item_size, 48u);
  EXPECT_EQ(layout.shape.shape, (std::vector<std::uint32_t>{2, 3}));
}

// 2^30 items of 4 bytes are 0 bytes in 32 bits: what divides by the size of an item would have divided by that.
TEST(BranchLayout, ArraysBeyondAnyBasketAreNotDecoded) {
  for (const std::string class_name : {"TLeafB", "TLeafS", "TLeafF", "TLeafD", "TLeafD32", "TLeafF16"}) {
    for (const std::int32_t len : std::vector<std::int32_t>{1 << 29, 1 << 30, INT32_MAX}) {
      for (const std::string& title : {std::string("x"), "x[" + std::to_string(len) + "]", std::string("x[32768][32768]")}) {
        const BranchLayout layout = branch_layout(one_leaf(class_name, len, title), 0, StreamerInfos(), false);
        EXPECT_NE(layout.reason, "") << class_name << " " << title;
        EXPECT_GT(layout.stream.item_size, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace tfile
