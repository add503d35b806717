// SPDX-License-Identifier: Apache-2.0
#include "tree/read/branch_layout.h"

#include <gtest/gtest.h>

#include <cstring>

#include "format/streamer/described_class.h"

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
  EXPECT_EQ(layout.stream.kind, Stream::Kind::flat);
  EXPECT_EQ(layout.stream.item_size, 48u);
  EXPECT_EQ(layout.shape.shape, (std::vector<std::uint32_t>{2, 3}));
}

// 2^30 items of 4 bytes are 0 bytes in 32 bits, so a division by the size of an item would be a division by zero.
TEST(BranchLayout, ArraysBeyondAnyBasketAreNotDecoded) {
  for (const std::string class_name : {"TLeafB", "TLeafS", "TLeafF", "TLeafD", "TLeafD32", "TLeafF16"}) {
    for (const std::int32_t len : std::vector<std::int32_t>{1 << 29, 1 << 30, INT32_MAX}) {
      for (const std::string& title :
           {std::string("x"), "x[" + std::to_string(len) + "]", std::string("x[32768][32768]")}) {
        const BranchLayout layout = branch_layout(one_leaf(class_name, len, title), 0, StreamerInfos(), false);
        EXPECT_NE(layout.reason, "") << class_name << " " << title;
        EXPECT_GT(layout.stream.item_size, 0u);
      }
    }
  }
}

// The number of items is computed from the size of the data, assuming a header of 10 bytes per list.
TEST(BranchLayout, ListsWithOtherHeadersThanSupposedAreRefused) {
  TreeRecord tree = one_leaf("TLeafElement", 1, "v");
  BranchRecord& branch = tree.branches[0];
  branch.class_name = "TBranchElement";
  branch.element_class = "vector<float>";
  const BranchLayout layout = branch_layout(tree, 0, StreamerInfos(), false);
  ASSERT_EQ(layout.reason, "");
  ASSERT_EQ(layout.stream.list_prefix, 10u);
  const auto basket = [](const std::vector<std::uint8_t>& bytes) {
    BasketData data;
    data.payload = Buffer(bytes.size());
    std::memcpy(data.payload.data(), bytes.data(), bytes.size());
    data.size = bytes.size();
    data.entries = 1;
    data.offsets = {0, static_cast<std::int32_t>(bytes.size())};
    return data;
  };
  const std::vector<std::int64_t> first(layout.stream.lengths.size(), 0);
  // Byte count, version, number of items, one float.
  EXPECT_TRUE(decode_basket(layout.stream, basket({0x40, 0, 0, 10, 0, 9, 0, 0, 0, 1, 1, 2, 3, 4}), {}, first));
  // Version 0 and a checksum, without floats: the same number of bytes.
  EXPECT_FALSE(decode_basket(layout.stream, basket({0x40, 0, 0, 10, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0}), {}, first));
}

// A split object of class Heir, without branches below it. The file tells the version of its bases only by checksum.
BranchLayout layout_of_heir(const std::vector<StreamerElement>& more = {}, std::int32_t type = 0) {
  const auto base = [](const std::string& name, std::uint32_t checksum) {
    StreamerElement element = test::base(name, -1);
    element.max_index[1] = static_cast<std::int32_t>(checksum);
    return element;
  };
  std::vector<StreamerElement> elements = {base("Store", 5001), base("Lock", 4000)};
  elements.insert(elements.end(), more.begin(), more.end());
  const StreamerInfos infos =
      test::read_infos({test::class_info("Heir", elements), test::class_info("Store", {base("Root", 4000)}),
                        test::class_info("Root", {}), test::class_info("Lock", {})});
  TreeRecord tree = one_leaf("TLeafElement", 1, "heir");
  BranchRecord& branch = tree.branches[0];
  branch.class_name = "TBranchElement";
  branch.element_class = "Heir";
  branch.class_version = 1;
  branch.id = -2;
  branch.type = type;
  return branch_layout(tree, 0, infos, false);
}

// Version 0 and the checksum of a class without ClassDef.
std::size_t open_foreign(test::EntriesImage& image, std::uint32_t checksum) {
  const std::size_t at = image.open(0);
  image.put(checksum);
  return at;
}

TEST(BranchLayout, ASplitObjectWithoutMembersHasTheHeadersOfItsBases) {
  const BranchLayout layout = layout_of_heir();
  ASSERT_EQ(layout.reason, "");
  EXPECT_FALSE(layout.shape.has_columns());
  ASSERT_EQ(layout.stream.kind, Stream::Kind::program);
  test::EntriesImage image;
  for (int entry = 0; entry < 3; ++entry) {
    const std::size_t store = open_foreign(image, 5001);
    image.close(open_foreign(image, 4000));
    image.close(store);
    image.close(open_foreign(image, 4000));
    image.end_entry();
  }
  EXPECT_EQ(image.size(), 3u * 30u);
  test::run_whole(*layout.stream.program, image.with_offsets());
  test::run_whole(*layout.stream.program, image.without_offsets());
  image.put(std::uint8_t{0});
  test::expect_damaged(*layout.stream.program, image.without_offsets());
}

TEST(BranchLayout, ASplitObjectWithMembersLeavesThemToTheBranchesBelow) {
  const auto expect_nothing = [](const BranchLayout& layout) {
    EXPECT_EQ(layout.reason, "");
    EXPECT_FALSE(layout.shape.has_columns());
    ASSERT_EQ(layout.stream.kind, Stream::Kind::program);
    EXPECT_TRUE(layout.stream.program->ops.empty());
  };
  expect_nothing(layout_of_heir({test::member("x", element_type::kInt, "int")}));
  expect_nothing(layout_of_heir({}, 4));
}

}  // namespace
}  // namespace tfile
