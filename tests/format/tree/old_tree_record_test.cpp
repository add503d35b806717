// SPDX-License-Identifier: Apache-2.0
// Trees of ROOT versions before StreamerInfo, and classes with hand-written streamers.
#include <gtest/gtest.h>

#include <algorithm>

#include "format/streamer/streamer_info_image.h"
#include "format/tree/tree_image.h"
#include "streamer/info/basic_type.h"
#include "tree/record/tree_record.h"

namespace tfile {
namespace {

using test::TreeImage;
using Numbers = std::vector<std::int64_t>;

class OldImage : public TreeImage {
 public:
  using TreeImage::TreeImage;

  // A TTree of version 4 with `branches`.
  void put_old_tree(const std::vector<std::function<void()>>& branches) {
    const std::size_t at = open(4);
    tnamed("old", "an old tree");
    bare_attributes(6);
    bare_attributes(4);
    bare_attributes(8);
    for (int i = 0; i < 3; ++i) put(std::int32_t{25});
    put(150.0);
    put(740.0);
    put(500.0);
    put(std::int32_t{1000});
    put(std::int32_t{2000});
    slots(branches);
    slots({});
    put(std::int32_t{1});  // fIndexValues
    put(1.5);
    put(std::int32_t{0});  // fIndex
    attributes(4, 10);     // a TList
    close(at);
  }
  // A TBranch up to version 5.
  void put_oldest_branch(std::uint16_t version) {
    const std::size_t at = open_object("TBranch");
    const std::size_t own = open(version);
    tnamed("x", "x/F");
    for (const std::int32_t n : {1, 32000, 7, 4, 2, 150}) put(n);  // fMaxBaskets 4, fWriteBasket 2, fEntryNumber
    put(150.0);
    put(740.0);
    put(500.0);
    put(std::int32_t{0});
    slots({});
    slots({[&] { put_leaf({}); }});
    slots({});
    counted({0, 100, 150});
    if (version > 4) counted({300, 200, 0});
    if (version > 1) counted({1000, 2000, 0, 0});
    if (version > 2) put_string("other.root");
    close(own);
    close(at);
  }
  // A TBranch of versions 6 to 9; `seek_flag` 2: addresses of 8 bytes.
  void put_old_branch(std::uint16_t version, std::uint8_t seek_flag) {
    const std::size_t at = open_object("TBranch");
    const std::size_t own = open(version);
    tnamed("x", "x/F");
    if (version > 7) bare_attributes(4);
    for (const std::int32_t n : {1, 32000, 7, 2, 150, 0, 3})
      put(n);  // fWriteBasket 2, fEntryNumber, fOffset, fMaxBaskets
    if (version > 6) put(std::int32_t{99});
    put(150.0);
    put(740.0);
    put(500.0);
    slots({});
    slots({[&] { put_leaf({}); }});
    slots({});
    numbers(std::vector<std::int32_t>{300, 200, 0});
    numbers(std::vector<std::int32_t>{0, 100, 150});
    put(seek_flag);
    for (const int seek : {1000, 2000, 0}) {
      if (seek_flag == 2) {
        put(std::int64_t{seek} + 0x100000000);
      } else {
        put(std::int32_t{seek});
      }
    }
    put_string("");
    close(own);
    close(at);
  }
  // A TBranchClones with a counter and one member, in the form before (`old`) or after 8-byte entry numbers.
  void put_clones_branch(bool old) {
    const std::size_t at = open_object("TBranchClones");
    const std::size_t own = open(2);
    tnamed("hits", "hits");
    for (const std::int32_t n : {1, 16000, 0, 10, 0}) put(n);
    if (old) {
      put(std::int32_t{150});
      for (const double n : {150.0, 740.0, 500.0}) put(n);
    } else {
      for (const int n : {150, 150, 740, 500}) put(std::int64_t{n});
    }
    put(std::int32_t{0});
    std::uint32_t counter = 0;
    Branch count;
    count.name = "hits_";
    count.leaves = {[&] { counter = put_leaf({.class_name = "TLeafI", .name = "hits_"}); }};
    put_branch(count);
    put_string("Hit");
    Branch member;
    member.name = "hits.x";
    member.leaves = {[&] { put_leaf({.name = "x", .title = "x[hits_]", .count = [&] { reference(counter); }}); }};
    slots({[&] { put_branch(member); }});
    close(own);
    close(at);
  }

 private:
  // Without a byte count, as in the first versions.
  void bare_attributes(std::size_t size) {
    put(std::uint16_t{1});
    patch_space(size);
  }
  void counted(const std::vector<std::int32_t>& values) {
    put(static_cast<std::int32_t>(values.size()));
    for (const std::int32_t value : values) put(value);
  }
};

TreeRecord read_old(const OldImage& image, std::span<const std::byte> descriptions = {}) {
  std::vector<std::string> warnings;
  const auto tree = read_tree(image.all(), image.origin(), "TTree", StreamerInfos::read(descriptions, 0, warnings));
  EXPECT_TRUE(tree) << tree.error().text;
  if (!tree) return {};
  EXPECT_TRUE(tree->warnings.empty()) << tree->warnings.front();
  return *tree;
}

void expect_branch(const TreeRecord& tree) {
  EXPECT_EQ(tree.name, "old");
  EXPECT_EQ(tree.entries, 150);
  EXPECT_EQ(tree.tot_bytes, 740);
  EXPECT_EQ(tree.zip_bytes, 500);
  ASSERT_EQ(tree.branches.size(), 1u);
  const BranchRecord& branch = tree.branches[0];
  EXPECT_EQ(branch.name, "x");
  EXPECT_EQ(branch.compress, 1);
  EXPECT_EQ(branch.entry_offset_len, 7);
  EXPECT_EQ(branch.entries, 150);
  EXPECT_EQ(branch.tot_bytes, 740);
  EXPECT_EQ(branch.zip_bytes, 500);
  EXPECT_EQ(branch.leaves.size(), 1u);
  EXPECT_EQ(branch.baskets.nbytes.size(), branch.baskets.seek.size());
}

TEST(OldTreeRecord, BranchesBeforeVersion6) {
  for (const int version : {2, 3, 4, 5}) {
    OldImage image(70);
    image.put_old_tree({[&] { image.put_oldest_branch(static_cast<std::uint16_t>(version)); }});
    const TreeRecord tree = read_old(image);
    expect_branch(tree);
    const BranchRecord& branch = tree.branches.at(0);
    EXPECT_EQ(branch.baskets.seek, (std::vector<std::uint64_t>{1000, 2000})) << version;
    EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 100, 150})) << version;
    EXPECT_EQ(branch.baskets.nbytes[0], version > 4 ? 300u : 0u);
    EXPECT_EQ(branch.file_name, version > 2 ? "other.root" : "");
  }
}

TEST(OldTreeRecord, BranchesBeforeVersion10) {
  for (const int version : {6, 7, 8, 9}) {
    for (const int flag : {1, 2}) {
      OldImage image(70);
      image.put_old_tree(
          {[&] { image.put_old_branch(static_cast<std::uint16_t>(version), static_cast<std::uint8_t>(flag)); }});
      const TreeRecord tree = read_old(image);
      expect_branch(tree);
      const std::uint64_t beyond = flag == 2 ? 0x100000000 : 0;
      const BranchRecord& branch = tree.branches.at(0);
      EXPECT_EQ(branch.baskets.seek, (std::vector<std::uint64_t>{1000 + beyond, 2000 + beyond})) << version;
      EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 100, 150})) << version;
      EXPECT_EQ(branch.split_level, version > 6 ? 99 : 0);
    }
  }
}

// ROOT 4.00/04 to 4.00/08 describe fBasketSeek as it is in memory, Long64_t*, and store four bytes unless the flag
// is 2.
TEST(OldTreeRecord, AddressesOfBasketsThatAreDescribedAsWiderThanTheyAre) {
  const auto& known = builtin_streamer_infos();
  const auto found = std::ranges::find_if(
      known, [](const StreamerInfo& info) { return info.class_name == "TBranch" && info.version == 9; });
  ASSERT_NE(found, known.end());
  StreamerInfo described = *found;
  const auto seek = std::ranges::find(described.elements, "fBasketSeek", &StreamerElement::name);
  ASSERT_NE(seek, described.elements.end());
  seek->type = element_type::kOffsetPointer + element_type::kLong64;
  seek->type_name = "Long64_t*";
  const auto record = test::streamer_info_record(std::vector{described}, 0);
  for (const int flag : {1, 2}) {
    OldImage image(70);
    image.put_old_tree({[&] { image.put_old_branch(9, static_cast<std::uint8_t>(flag)); }});
    const std::uint64_t beyond = flag == 2 ? 0x100000000 : 0;
    const TreeRecord tree = read_old(image, record.all());
    EXPECT_EQ(tree.branches.at(0).baskets.seek, (std::vector<std::uint64_t>{1000 + beyond, 2000 + beyond})) << flag;
  }
}

TEST(OldTreeRecord, ClonesBranch) {
  for (const bool old : {false, true}) {
    OldImage image(70);
    TreeImage::Tree tree;
    tree.branches = {[&] { image.put_clones_branch(old); }};
    image.put_tree(tree);
    const TreeRecord record = read_old(image);
    ASSERT_EQ(record.branches.size(), 3u) << old;
    const BranchRecord& hits = record.branches[0];
    EXPECT_EQ(hits.class_name, "TBranchClones");
    EXPECT_EQ(hits.name, "hits");
    EXPECT_EQ(hits.clones_class, "Hit");
    EXPECT_EQ(hits.entries, 150);
    EXPECT_EQ(hits.tot_bytes, 740);
    EXPECT_EQ(hits.zip_bytes, 500);
    EXPECT_EQ(hits.count, BranchIndex{1});
    EXPECT_EQ(hits.children, (std::vector<BranchIndex>{1, 2}));
    EXPECT_EQ(record.branches[1].name, "hits_");
    EXPECT_EQ(record.branches[2].name, "hits.x");
    EXPECT_EQ(record.leaves.at(1).count, LeafIndex{0});
  }
}

}  // namespace
}  // namespace tfile
