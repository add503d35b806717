// SPDX-License-Identifier: Apache-2.0
#include "tree/record/tree_record.h"

#include <gtest/gtest.h>

#include "format/streamer/streamer_info_image.h"
#include "format/tree/tree_image.h"

namespace tfile {
namespace {

using test::BasketImage;
using test::ObjectImage;
using test::TreeImage;
using Numbers = std::vector<std::int64_t>;

constexpr std::uint32_t kKeylen = 61;

StreamerInfos no_infos() {
  std::vector<std::string> warnings;
  return StreamerInfos::read({}, 0, warnings);
}

Result<TreeRecord> read(const ObjectImage& image, const std::string& class_name = "TTree") {
  static const StreamerInfos infos = no_infos();
  return read_tree(image.all(), image.origin(), class_name, infos);
}

TreeRecord read_whole(const ObjectImage& image, const std::string& class_name = "TTree") {
  auto tree = read(image, class_name);
  EXPECT_TRUE(tree) << tree.error().text;
  if (!tree) return {};
  EXPECT_TRUE(tree->warnings.empty()) << tree->warnings.front();
  return *std::move(tree);
}

// A branch of floats with two baskets of 100 and 50 entries on disk.
TreeImage::Branch floats(TreeImage& image, const std::string& name) {
  TreeImage::Branch branch;
  branch.name = name;
  branch.title = name + "/F";
  branch.write_basket = 2;
  branch.entry_number = branch.entries = 150;
  branch.tot_bytes = 740;
  branch.zip_bytes = 500;
  branch.bytes = {300, 200, 0, 0};
  branch.entry = {0, 100, 150, 0};
  branch.seek = {1000, 2000, 0, 0};
  branch.leaves = {[&image, name] { image.put_leaf({.name = name, .title = name}); }};
  return branch;
}

TreeImage::Tree with_branch(TreeImage& image) {
  TreeImage::Tree tree;
  tree.entries = 150;
  tree.branches = {[&] { image.put_branch(floats(image, "x")); }};
  return tree;
}

Result<EntryIndex> read_index(const ObjectImage& image) {
  return read_entry_index(image.all(), image.origin(), "TTree", no_infos());
}

TEST(TreeRecord, Friends) {
  TreeImage image(kKeylen);
  TreeImage::Tree tree = with_branch(image);
  tree.friends = [&] { image.put_friends({{"a", "t1", "f.root"}, {"b", "dir/t2", ""}}); };
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.friends.size(), 2u);
  EXPECT_EQ(record.friends[0].alias, "a");
  EXPECT_EQ(record.friends[0].table, "t1");
  EXPECT_EQ(record.friends[0].file, "f.root");
  EXPECT_EQ(record.friends[1].table, "dir/t2");
  EXPECT_EQ(record.friends[1].file, "");
  EXPECT_FALSE(record.has_index);
  EXPECT_EQ(read_index(image).error().kind, ErrorKind::not_found);
}

TEST(TreeRecord, Index) {
  TreeImage image(kKeylen);
  TreeImage::Tree tree = with_branch(image);
  tree.tree_index = [&] { image.put_index("run", "event", 3, {1, 1, 2}, {5, 6, 0}, {2, 0, 1}); };
  image.put_tree(tree);
  EXPECT_TRUE(read_whole(image).has_index);
  const auto index = read_index(image);
  ASSERT_TRUE(index) << index.error().text;
  EXPECT_EQ(index->major_name, "run");
  EXPECT_EQ(index->minor_name, "event");
  EXPECT_EQ(index->major, (Numbers{1, 1, 2}));
  EXPECT_EQ(index->minor, (Numbers{5, 6, 0}));
  EXPECT_EQ(index->entry, (Numbers{2, 0, 1}));
}

TEST(TreeRecord, AnIndexOfVersion1HoldsBothValuesInOne) {
  TreeImage image(kKeylen);
  TreeImage::Tree tree = with_branch(image);
  tree.tree_index = [&] { image.put_index("run", "event", 2, {(7LL << 31) + 5, (8LL << 31) + 2}, {}, {1, 0}); };
  image.put_tree(tree);
  const auto index = read_index(image);
  ASSERT_TRUE(index) << index.error().text;
  EXPECT_EQ(index->major, (Numbers{7, 8}));
  EXPECT_EQ(index->minor, (Numbers{5, 2}));
  EXPECT_EQ(index->entry, (Numbers{1, 0}));
}

TEST(TreeRecord, AnIndexThatClaimsMoreThanThereIsIsDamage) {
  for (const std::int64_t count : {std::int64_t{-1}, std::int64_t{4}, std::int64_t{1} << 60, INT64_MAX}) {
    TreeImage image(kKeylen);
    TreeImage::Tree tree = with_branch(image);
    tree.tree_index = [&] { image.put_index("run", "event", count, {1, 1, 2}, {5, 6, 0}, {2, 0, 1}); };
    image.put_tree(tree);
    const auto record = read(image);
    ASSERT_TRUE(record) << record.error().text;
    EXPECT_EQ(record->branches.size(), 1u);
    EXPECT_TRUE(record->has_index);
    EXPECT_EQ(record->warnings.size(), 1u);
    const auto index = read_index(image);
    ASSERT_FALSE(index);
    EXPECT_EQ(index.error().kind, ErrorKind::damaged);
  }
}

TEST(TreeRecord, FlatTree) {
  TreeImage image(kKeylen);
  TreeImage::Tree tree;
  tree.entries = 150;
  tree.tot_bytes = 1480;
  tree.zip_bytes = 1000;
  tree.auto_flush = 100;
  tree.cluster_range_end = {99, 149};
  tree.cluster_size = {100, 50};
  tree.branches = {[&] { image.put_branch(floats(image, "x")); }, [&] { image.put_branch(floats(image, "y")); }};
  image.put_tree(tree);

  const TreeRecord record = read_whole(image);
  EXPECT_EQ(record.class_name, "TTree");
  EXPECT_EQ(record.name, "t");
  EXPECT_EQ(record.title, "a tree");
  EXPECT_EQ(record.entries, 150);
  EXPECT_EQ(record.tot_bytes, 1480);
  EXPECT_EQ(record.zip_bytes, 1000);
  EXPECT_EQ(record.auto_flush, 100);
  EXPECT_EQ(record.cluster_range_end, (Numbers{99, 149}));
  EXPECT_EQ(record.cluster_size, (Numbers{100, 50}));
  EXPECT_EQ(record.top, (std::vector<BranchIndex>{0, 1}));
  ASSERT_EQ(record.branches.size(), 2u);
  ASSERT_EQ(record.leaves.size(), 2u);
  const BranchRecord& y = record.branches[1];
  EXPECT_EQ(y.class_name, "TBranch");
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.title, "y/F");
  EXPECT_FALSE(y.parent);
  EXPECT_EQ(y.compress, 101);
  EXPECT_EQ(y.basket_size, 32000);
  EXPECT_EQ(y.split_level, 99);
  EXPECT_EQ(y.entries, 150);
  EXPECT_EQ(y.tot_bytes, 740);
  EXPECT_EQ(y.zip_bytes, 500);
  EXPECT_EQ(y.baskets.seek, (std::vector<std::uint64_t>{1000, 2000}));
  EXPECT_EQ(y.baskets.nbytes, (std::vector<std::uint32_t>{300, 200}));
  EXPECT_EQ(*y.baskets.entry, (Numbers{0, 100, 150}));
  EXPECT_EQ(y.baskets.entry, record.branches[0].baskets.entry) << "equal boundaries are shared";
  EXPECT_EQ(y.leaves, (std::vector<LeafIndex>{1}));
  EXPECT_EQ(record.leaves[1].class_name, "TLeafF");
  EXPECT_EQ(record.leaves[1].name, "y");
  EXPECT_EQ(record.leaves[1].branch, 1u);
  EXPECT_EQ(record.leaves[1].len, 1);
  EXPECT_EQ(record.leaves[1].len_type, 4);
  EXPECT_FALSE(record.leaves[1].count);
}

TEST(TreeRecord, HeirsOfTTree) {
  TreeImage image(kKeylen);
  const std::size_t at = image.open(2);
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(floats(image, "x")); }};
  image.put_tree(tree);
  image.put(std::int32_t{1});
  image.close(at);
  EXPECT_EQ(read_whole(image, "TNtuple").branches.size(), 1u);
}

TEST(TreeRecord, CounterLeafByReference) {
  TreeImage image(kKeylen);
  std::uint32_t counter = 0;
  TreeImage::Branch n = floats(image, "n");
  n.leaves = {[&] { counter = image.put_leaf({.class_name = "TLeafI", .name = "n", .is_range = true}); }};
  TreeImage::Branch pt = floats(image, "pt");
  pt.entry_offset_len = 1000;
  pt.leaves = {[&] { image.put_leaf({.name = "pt", .title = "pt[n]", .count = [&] { image.reference(counter); }}); }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(n); }, [&] { image.put_branch(pt); }};
  tree.leaves = {[&] { image.reference(counter); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.leaves.size(), 2u);
  EXPECT_TRUE(record.leaves[0].is_range);
  EXPECT_EQ(record.leaves[1].count, LeafIndex{0});
  EXPECT_EQ(record.branches[1].entry_offset_len, 1000);
}

// The counter leaf is stored where it is first referred to; its own branch has a reference.
TEST(TreeRecord, CounterLeafInFullAtItsFirstMention) {
  TreeImage image(kKeylen);
  std::uint32_t counter = 0;
  TreeImage::Branch pt = floats(image, "pt");
  pt.leaves = {[&] {
    image.put_leaf({.name = "pt", .title = "pt[n]", .count = [&] {
                      counter = image.put_leaf({.class_name = "TLeafI", .name = "n", .is_range = true});
                    }});
  }};
  TreeImage::Branch n = floats(image, "n");
  n.leaves = {[&] { image.reference(counter); }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(pt); }, [&] { image.put_branch(n); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.leaves.size(), 2u);
  EXPECT_EQ(record.leaves[0].name, "pt");
  EXPECT_EQ(record.leaves[0].branch, 0u);
  EXPECT_EQ(record.leaves[0].count, LeafIndex{1});
  EXPECT_EQ(record.leaves[1].name, "n");
  EXPECT_EQ(record.leaves[1].branch, 1u);
  EXPECT_EQ(record.branches[1].leaves, (std::vector<LeafIndex>{1}));
}

TEST(TreeRecord, CounterLeafOfNoBranchIsDropped) {
  TreeImage image(kKeylen);
  TreeImage::Branch pt = floats(image, "pt");
  pt.leaves = {[&] {
    image.put_leaf({.name = "pt", .count = [&] { image.put_leaf({.class_name = "TLeafI", .name = "lost"}); }});
  }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(pt); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.leaves.size(), 1u);
  EXPECT_FALSE(record.leaves[0].count);
}

TEST(TreeRecord, SplitCollection) {
  TreeImage image(kKeylen);
  std::uint32_t master = 0;
  TreeImage::Branch member = floats(image, "hits.x");
  member.class_name = "TBranchElement";
  member.element_class = "Hit";
  member.parent_class = "Event";
  member.clones_class = "Hit";
  member.checksum = 0xCAFEF00D;
  member.class_version = 3;
  member.id = 1;
  member.type = 41;
  member.streamer_type = 5;
  member.count = [&] { image.reference(master); };
  member.leaves = {[&] { image.put_leaf({.class_name = "TLeafElement", .name = "x", .id = 1, .type = 5}); }};
  TreeImage::Branch hits = floats(image, "hits");
  hits.class_name = "TBranchElement";
  hits.type = 4;
  hits.id = 0;
  hits.maximum = 12;
  // A reference inside the master itself, which is not complete yet.
  hits.branches = {[&] { image.put_branch(member); }};
  TreeImage::Tree tree;
  tree.branches = {[&] {
    master = image.identity(image.size());
    image.put_branch(hits);
  }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.branches.size(), 2u);
  EXPECT_EQ(record.branches[0].children, (std::vector<BranchIndex>{1}));
  EXPECT_EQ(record.branches[0].maximum, 12);
  const BranchRecord& x = record.branches[1];
  EXPECT_EQ(x.parent, BranchIndex{0});
  EXPECT_EQ(x.count, BranchIndex{0});
  EXPECT_FALSE(x.count2);
  EXPECT_EQ(x.element_class, "Hit");
  EXPECT_EQ(x.parent_class, "Event");
  EXPECT_EQ(x.clones_class, "Hit");
  EXPECT_EQ(x.checksum, 0xCAFEF00Du);
  EXPECT_EQ(x.class_version, 3);
  EXPECT_EQ(x.id, 1);
  EXPECT_EQ(x.type, 41);
  EXPECT_EQ(x.streamer_type, 5);
  EXPECT_EQ(record.leaves[x.leaves.at(0)].element_id, 1);
  EXPECT_EQ(record.leaves[x.leaves.at(0)].element_type, 5);
  EXPECT_EQ(record.top, (std::vector<BranchIndex>{0}));
}

// A branch stored where another one refers to it as its counter; its own list has a reference.
TEST(TreeRecord, CountBranchInFullAtItsFirstMention) {
  TreeImage image(kKeylen);
  std::uint32_t count = 0;
  TreeImage::Branch k = floats(image, "k");
  k.class_name = "TBranchElement";
  TreeImage::Branch a = floats(image, "a");
  a.class_name = "TBranchElement";
  a.count2 = [&] { count = image.put_branch(k); };
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(a); }, [&] { image.reference(count); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.branches.size(), 2u);
  EXPECT_EQ(record.top, (std::vector<BranchIndex>{0, 1}));
  EXPECT_EQ(record.branches[0].name, "a");
  EXPECT_EQ(record.branches[0].count2, BranchIndex{1});
  EXPECT_EQ(record.branches[1].name, "k");
}

TEST(TreeRecord, ReferencesBranchComesLast) {
  TreeImage image(kKeylen);
  TreeImage::Branch refs = floats(image, "TRefTable");
  refs.class_name = "TBranchRef";
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(floats(image, "x")); }};
  tree.branch_ref = [&] { image.put_branch(refs); };
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.branches.size(), 2u);
  EXPECT_EQ(record.branches[1].class_name, "TBranchRef");
  EXPECT_EQ(record.top, (std::vector<BranchIndex>{0, 1}));
}

TEST(TreeRecord, EmbeddedBaskets) {
  TreeImage image(kKeylen);
  BasketImage basket;
  basket.big = false;
  basket.version = 2;
  basket.entries = 50;
  basket.flag = 12;
  basket.data = test::some_bytes(200);
  TreeImage::Branch x = floats(image, "x");
  x.write_basket = 1;
  x.seek = {1000, 0, 0, 0};
  x.bytes = {300, 0, 0, 0};
  x.entry = {0, 100, 0, 0};
  x.baskets = {{}, [&] { image.put_basket(basket); }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(x); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  const BranchRecord& branch = record.branches.at(0);
  EXPECT_EQ(branch.baskets.seek, (std::vector<std::uint64_t>{1000, 0}));
  EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 100, 150}));
  ASSERT_EQ(branch.embedded.size(), 1u);
  EXPECT_EQ(branch.embedded[0].index, 1u);
  EXPECT_EQ(branch.embedded[0].entries, 50);
  EXPECT_EQ(branch.embedded[0].data, basket.data);
}

TEST(TreeRecord, EmptySlotsAreDroppedAndOthersCountOn) {
  TreeImage image(kKeylen);
  BasketImage basket;
  basket.entries = 50;
  basket.flag = 12;
  basket.data = test::some_bytes(200);
  TreeImage::Branch x = floats(image, "x");
  x.write_basket = 3;
  x.seek = {500, 1000, 0, 3000};
  x.bytes = {80, 300, 0, 0};
  x.entry = {0, 0, 100, 150};
  x.baskets = {{}, {}, [&] { image.put_basket(basket); }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(x); }};
  image.put_tree(tree);
  const BranchRecord branch = read_whole(image).branches.at(0);
  EXPECT_EQ(branch.baskets.seek, (std::vector<std::uint64_t>{1000, 0}));
  EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 100, 150}));
  ASSERT_EQ(branch.embedded.size(), 1u);
  EXPECT_EQ(branch.embedded[0].index, 1u);
}

// In old versions, slots that were never written contain arbitrary memory.
TEST(TreeRecord, GarbageInTheSlotBeingFilled) {
  TreeImage image(kKeylen);
  BasketImage basket;
  basket.entries = 150;
  basket.flag = 12;
  basket.data = test::some_bytes(600);
  for (const std::int64_t garbage : {std::int64_t{-4995072469926809587}, std::int64_t{77}}) {
    TreeImage fresh(kKeylen);
    TreeImage::Branch x = floats(fresh, "x");
    x.write_basket = 0;
    x.seek = {garbage, garbage};
    x.bytes = {static_cast<std::int32_t>(garbage), 0};
    x.entry = {0, garbage};
    x.baskets = {[&] { fresh.put_basket(basket); }};
    TreeImage::Tree tree;
    tree.branches = {[&] { fresh.put_branch(x); }};
    fresh.put_tree(tree);
    const BranchRecord branch = read_whole(fresh).branches.at(0);
    EXPECT_EQ(branch.baskets.seek, (std::vector<std::uint64_t>{0})) << garbage;
    EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 150}));
    ASSERT_EQ(branch.embedded.size(), 1u);
  }
}

TEST(TreeRecord, LostBasketKeepsItsEntries) {
  TreeImage image(kKeylen);
  TreeImage::Branch x = floats(image, "x");
  x.seek = {0, 2000, 0, 0};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(x); }};
  image.put_tree(tree);
  const BranchRecord branch = read_whole(image).branches.at(0);
  EXPECT_EQ(branch.baskets.seek, (std::vector<std::uint64_t>{0, 2000}));
  EXPECT_EQ(*branch.baskets.entry, (Numbers{0, 100, 150}));
  EXPECT_TRUE(branch.embedded.empty());
}

TEST(TreeRecord, NodeWithoutDataHasNoBaskets) {
  TreeImage image(kKeylen);
  TreeImage::Branch node = floats(image, "event");
  node.write_basket = 0;
  node.tot_bytes = node.zip_bytes = 0;
  node.seek = {0, 0};
  node.bytes = {0, 0};
  node.entry = {0, 0};
  node.branches = {[&] { image.put_branch(floats(image, "x")); }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(node); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  EXPECT_TRUE(record.branches.at(0).baskets.seek.empty());
  EXPECT_EQ(record.branches[0].baskets.entry->size(), 1u);
}

TEST(TreeRecord, DisorderedEntriesAreOneLostBasket) {
  TreeImage image(kKeylen);
  TreeImage::Branch x = floats(image, "x");
  x.entry = {0, 200, 150, 0};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(x); }, [&] { image.put_branch(floats(image, "y")); }};
  image.put_tree(tree);
  const auto record = read(image);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->warnings.size(), 1u);
  EXPECT_EQ(record->branches[0].baskets.seek, (std::vector<std::uint64_t>{0}));
  EXPECT_EQ(*record->branches[0].baskets.entry, (Numbers{0, 150}));
  EXPECT_EQ(record->branches[1].baskets.seek.size(), 2u);
}

TEST(TreeRecord, ElementsOfTheFileDecide) {
  // A TBranch of an unknown version, with a new member in the middle and another order.
  std::vector<std::string> warnings;
  StreamerInfo info = *no_infos().find("TBranch", 13);
  info.version = 99;
  StreamerElement extra;
  extra.kind = ElementKind::basic;
  extra.name = "fNovelty";
  extra.type = element_type::kLong64;
  extra.type_name = "Long64_t";
  info.elements.insert(info.elements.begin() + 2, extra);
  const ObjectImage record = test::streamer_info_record(std::vector{info}, 0);
  const StreamerInfos infos = StreamerInfos::read(record.all(), 0, warnings);

  TreeImage image(kKeylen);
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(floats(image, "x")); }};
  image.put_tree(tree);
  // Change the branch's version from 13 to 99, and insert 8 bytes after its TAttFill.
  const std::string_view text(reinterpret_cast<const char*>(image.all().data()), image.size());
  const std::size_t version = text.find(std::string_view("TBranch\0", 8)) + 8 + 4;
  ASSERT_EQ(image.all()[version + 1], std::byte{13});
  image.all()[version + 1] = std::byte{99};
  const std::size_t named = version + 2;
  const std::size_t fill = named + 4 + 2 + 10 + 2 + 4;
  image.all().insert(image.all().begin() + static_cast<std::ptrdiff_t>(fill + 4 + 2 + 4), 8, std::byte{1});
  // Everything around it grows by 8: the frame, the slot, the list, the tree.
  std::size_t grown = 0;
  for (std::size_t at = 0; at < version; ++at) {
    const auto word = load_big<std::uint32_t>(image.all().data() + at);
    if ((word >> 24) == 0x40 && at + 4 + (word & 0xFFFFFF) >= fill && at + 4 + (word & 0xFFFFFF) < image.size()) {
      image.patch(at, word + 8);
      ++grown;
    }
  }
  EXPECT_EQ(grown, 4u);

  const auto read = read_tree(image.all(), kKeylen, "TTree", infos);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_TRUE(read->warnings.empty()) << read->warnings.front();
  ASSERT_EQ(read->branches.size(), 1u);
  EXPECT_EQ(read->branches[0].compress, 101);
  EXPECT_EQ(read->branches[0].baskets.seek, (std::vector<std::uint64_t>{1000, 2000}));
}

TEST(TreeRecord, UnknownClassOrVersion) {
  TreeImage image(kKeylen);
  image.put_tree({});
  const auto unknown = read(image, "MyTree");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::unsupported);
  image.all()[5] = std::byte{77};
  const auto version = read(image);
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().kind, ErrorKind::unsupported);
}

TEST(TreeRecord, DamagedBranchLeavesTheOthers) {
  TreeImage image(kKeylen);
  TreeImage::Branch x = floats(image, "x");
  x.leaves = {[&] {
    const std::size_t at = image.open_object("TLeafF");
    image.close(at);
  }};
  TreeImage::Tree tree;
  tree.branches = {[&] { image.put_branch(x); }, [&] { image.put_branch(floats(image, "y")); }};
  image.put_tree(tree);
  const auto record = read(image);
  ASSERT_TRUE(record) << record.error().text;
  EXPECT_EQ(record->warnings.size(), 1u);
  ASSERT_EQ(record->branches.size(), 2u);
  EXPECT_EQ(record->branches[1].name, "y");
  EXPECT_EQ(record->branches[1].leaves.size(), 1u);
}

TEST(TreeRecord, BranchInsideItself) {
  TreeImage image(kKeylen);
  std::uint32_t self = 0;
  TreeImage::Branch x = floats(image, "x");
  x.class_name = "TBranchElement";
  x.branches = {[&] { image.reference(self); }};
  x.count = [&] { image.reference(self); };
  TreeImage::Tree tree;
  tree.branches = {[&] {
                     self = image.identity(image.size());
                     image.put_branch(x);
                   },
                   [&] { image.reference(self); }, [&] { image.reference(12345); }};
  image.put_tree(tree);
  const TreeRecord record = read_whole(image);
  ASSERT_EQ(record.branches.size(), 1u);
  EXPECT_TRUE(record.branches[0].children.empty());
  EXPECT_EQ(record.top, (std::vector<BranchIndex>{0}));
}

TEST(TreeRecord, NestingIsBounded) {
  for (const bool by_reference : {false, true}) {
    TreeImage image(kKeylen);
    TreeImage::Tree tree;
    std::uint32_t before = 0;
    std::function<void(int)> put = [&](int depth) {
      TreeImage::Branch branch = floats(image, "b");
      if (depth > 0) branch.branches = {[&, depth] { put(depth - 1); }};
      image.put_branch(branch);
    };
    if (by_reference) {
      for (int i = 0; i < 1000; ++i) {
        tree.branches.push_back([&, i] {
          TreeImage::Branch branch = floats(image, "b");
          branch.class_name = "TBranchElement";
          // Each contains the previous one, which is in no list yet.
          if (i > 0) branch.branches = {[&] { image.reference(before); }};
          TreeImage::Branch holder = floats(image, "h");
          holder.class_name = "TBranchElement";
          holder.count = [&] { before = image.put_branch(branch); };
          image.put_branch(holder);
        });
      }
      image.put_tree(tree);
      const auto record = read(image);
      ASSERT_FALSE(record);
      EXPECT_EQ(record.error().kind, ErrorKind::damaged);
    } else {
      tree.branches = {[&] { put(1000); }};
      image.put_tree(tree);
      const auto record = read(image);
      ASSERT_TRUE(record) << record.error().text;
      EXPECT_FALSE(record->warnings.empty());
      EXPECT_LT(record->branches.size(), 200u);
    }
  }
}

TreeImage rich_tree() {
  TreeImage image(kKeylen);
  std::uint32_t counter = 0;
  BasketImage basket;
  basket.entries = 50;
  basket.flag = 12;
  basket.data = test::some_bytes(20);
  TreeImage::Branch n = floats(image, "n");
  n.leaves = {[&] { counter = image.put_leaf({.class_name = "TLeafI", .name = "n"}); }};
  n.baskets = {{}, {}, [&] { image.put_basket(basket); }};
  TreeImage::Branch child = floats(image, "c");
  child.class_name = "TBranchElement";
  child.leaves = {[&] { image.put_leaf({.name = "pt", .count = [&] { image.reference(counter); }}); }};
  TreeImage::Branch parent = floats(image, "p");
  parent.class_name = "TBranchElement";
  parent.branches = {[&] { image.put_branch(child); }};
  TreeImage::Tree tree;
  tree.cluster_size = tree.cluster_range_end = {1, 2, 3};
  tree.branches = {[&] { image.put_branch(n); }, [&] { image.put_branch(parent); }};
  image.put_tree(tree);
  return image;
}

void expect_consistent(const TreeRecord& tree) {
  const auto known = [&](const std::optional<BranchIndex>& index) { return !index || *index < tree.branches.size(); };
  for (const BranchIndex top : tree.top) ASSERT_LT(top, tree.branches.size());
  for (BranchIndex i = 0; i < tree.branches.size(); ++i) {
    const BranchRecord& branch = tree.branches[i];
    ASSERT_TRUE(known(branch.parent) && known(branch.count) && known(branch.count2));
    if (branch.parent) {
      ASSERT_LT(*branch.parent, i);
    }
    for (const BranchIndex child : branch.children) {
      ASSERT_LT(child, tree.branches.size());
      ASSERT_EQ(tree.branches[child].parent, i);
    }
    for (const LeafIndex leaf : branch.leaves) {
      ASSERT_LT(leaf, tree.leaves.size());
      ASSERT_EQ(tree.leaves[leaf].branch, i);
    }
    ASSERT_TRUE(branch.baskets.entry);
    ASSERT_EQ(branch.baskets.entry->size(), branch.baskets.seek.size() + 1);
    ASSERT_EQ(branch.baskets.nbytes.size(), branch.baskets.seek.size());
    ASSERT_TRUE(std::is_sorted(branch.baskets.entry->begin(), branch.baskets.entry->end()));
    for (const EmbeddedBasket& basket : branch.embedded) ASSERT_LT(basket.index, branch.baskets.seek.size());
  }
  for (const LeafRecord& leaf : tree.leaves) {
    ASSERT_LT(leaf.branch, tree.branches.size());
    ASSERT_TRUE(!leaf.count || *leaf.count < tree.leaves.size());
  }
}

TEST(TreeRecord, EveryPrefixAndFlippedByteIsSurvived) {
  const TreeImage image = rich_tree();
  const StreamerInfos infos = no_infos();
  expect_consistent(read_whole(image));
  for (std::size_t size = 0; size < image.size(); ++size) {
    const auto tree = read_tree(std::span(image.all()).first(size), kKeylen, "TTree", infos);
    if (tree) {
      EXPECT_FALSE(tree->warnings.empty()) << size;
      expect_consistent(*tree);
    }
  }
  for (std::size_t i = 0; i < image.size(); ++i) {
    for (const int value : {0x00, 0x01, 0x40, 0x7f, 0x80, 0xff}) {
      std::vector<std::byte> flipped = image.all();
      flipped[i] = static_cast<std::byte>(value);
      const auto tree = read_tree(flipped, kKeylen, "TTree", infos);
      if (tree) expect_consistent(*tree);
      if (HasFatalFailure()) FAIL() << "byte " << i << " = " << value;
    }
  }
}

}  // namespace
}  // namespace tfile
