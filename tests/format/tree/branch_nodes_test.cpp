// SPDX-License-Identifier: Apache-2.0
#include "tree/read/branch_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "format/streamer/streamer_info_image.h"

namespace tfile {
namespace {

using namespace element_type;
using Names = std::vector<std::string>;

// Makes a tree's record branch by branch.
class TreeMaker {
 public:
  BranchIndex leaf_branch(const std::string& name, const std::string& leaf_class, const std::string& leaf_title,
                          std::optional<BranchIndex> parent = std::nullopt) {
    const BranchIndex index = branch(name, "TBranch", parent);
    LeafRecord leaf;
    leaf.class_name = leaf_class;
    leaf.name = name.substr(0, name.find('['));
    leaf.title = leaf_title;
    leaf.branch = index;
    tree.branches[index].leaves.push_back(static_cast<LeafIndex>(tree.leaves.size()));
    tree.leaves.push_back(leaf);
    return index;
  }
  LeafRecord& leaf_of(BranchIndex index) { return tree.leaves[tree.branches[index].leaves[0]]; }

  // `type` as TBranchElement::fType, `id` as fID: a member of `class_name`, the object itself (-1), or a node (-2).
  BranchIndex element(const std::string& name, const std::string& class_name, int id, int type = 0,
                      std::optional<BranchIndex> parent = std::nullopt) {
    const BranchIndex index = branch(name, "TBranchElement", parent);
    BranchRecord& made = tree.branches[index];
    made.element_class = class_name;
    made.class_version = 1;
    made.id = id;
    made.type = type;
    return index;
  }
  BranchIndex branch(const std::string& name, const std::string& branch_class, std::optional<BranchIndex> parent) {
    const auto index = static_cast<BranchIndex>(tree.branches.size());
    BranchRecord made;
    made.name = name;
    made.title = "title of " + name;
    made.class_name = branch_class;
    made.parent = parent;
    made.baskets.entry = std::make_shared<const std::vector<std::int64_t>>(1, 0);
    tree.branches.push_back(made);
    if (parent) {
      tree.branches[*parent].children.push_back(index);
    } else {
      tree.top.push_back(index);
    }
    return index;
  }

  TreeRecord tree;
};

StreamerElement basic(const std::string& name, int type) {
  StreamerElement element;
  element.kind = ElementKind::basic;
  element.name = name;
  element.type = type;
  element.type_name = "a number";
  return element;
}
StreamerElement object_member(const std::string& name, const std::string& class_name) {
  StreamerElement element = basic(name, kAny);
  element.kind = ElementKind::object_any;
  element.type_name = class_name;
  return element;
}
StreamerInfos infos_of(const std::vector<std::pair<std::string, std::vector<StreamerElement>>>& classes) {
  std::vector<StreamerInfo> infos;
  for (const auto& [name, elements] : classes) {
    StreamerInfo info;
    info.class_name = name;
    info.version = 1;
    info.elements = elements;
    infos.push_back(info);
  }
  std::vector<std::string> warnings;
  return StreamerInfos::read(test::streamer_info_record(infos, 0).all(), 0, warnings);
}

using Trial = std::function<Result<>(const Stream&)>;

BranchNodes nodes_of(
    const TreeMaker& maker, const StreamerInfos& infos = {},
    const Trial& trial = [](const Stream&) { return Result<>(); }) {
  return make_branch_nodes(maker.tree, infos, {trial, [](const Stream&) { return FoundClasses(); }});
}
Names paths(const BranchNodes& made) {
  Names names;
  for (const Column& column : made.columns) names.push_back(column.path);
  std::sort(names.begin(), names.end());
  return names;
}
const Column& column(const BranchNodes& made, const std::string& path) {
  const auto found =
      std::find_if(made.columns.begin(), made.columns.end(), [&](const Column& c) { return c.path == path; });
  EXPECT_NE(found, made.columns.end()) << path;
  static const Column kNone;
  return found == made.columns.end() ? kNone : *found;
}
Names lists_of(const BranchNodes& made, const std::string& path) {
  Names names;
  for (const ColumnId id : column(made, path).lists) names.push_back(made.columns[id].path);
  return names;
}

TEST(BranchNodes, NumbersAreFilesWithTypeAndShape) {
  TreeMaker maker;
  maker.leaf_branch("x", "TLeafF", "x");
  maker.leaf_of(maker.leaf_branch("m[2][3]", "TLeafD", "m[2][3]")).len = 6;
  maker.leaf_branch("ok", "TLeafO", "ok");
  const BranchNodes made = nodes_of(maker);
  EXPECT_EQ(paths(made), (Names{"m.f8x2x3", "ok.b1", "x.f4"}));
  EXPECT_EQ(column(made, "m.f8x2x3").branch, "m[2][3]");
  EXPECT_EQ(column(made, "x.f4").title, "title of x");
  EXPECT_EQ(made.streams.size(), 3u);
  EXPECT_EQ(made.nodes[0].children.size(), 3u);
}

TEST(BranchNodes, CountedArraysAndStrings) {
  TreeMaker maker;
  const BranchIndex n = maker.leaf_branch("n", "TLeafI", "n");
  const BranchIndex pt = maker.leaf_branch("pt", "TLeafF", "pt[n]");
  maker.leaf_of(pt).count = maker.tree.branches[n].leaves[0];
  maker.leaf_branch("s", "TLeafC", "s");
  const BranchNodes made = nodes_of(maker);
  EXPECT_EQ(paths(made), (Names{"n.i4", "pt/offsets.i8", "pt/values.f4", "s/chars.u1", "s/offsets.i8"}));
  EXPECT_EQ(lists_of(made, "pt/values.f4"), (Names{"pt/offsets.i8"}));
  EXPECT_EQ(lists_of(made, "pt/offsets.i8"), (Names{"pt/offsets.i8"}));
  EXPECT_EQ(lists_of(made, "s/chars.u1"), (Names{"s/offsets.i8"}));
  EXPECT_EQ(column(made, "s/chars.u1").role, Role::chars);
}

TEST(BranchNodes, SeveralLeavesAreARecord) {
  TreeMaker maker;
  const BranchIndex branch = maker.leaf_branch("point", "TLeafF", "x");
  maker.leaf_of(branch).name = "x";
  LeafRecord second = maker.leaf_of(branch);
  second.class_name = "TLeafI";
  second.name = second.title = "k";
  maker.tree.branches[branch].leaves.push_back(static_cast<LeafIndex>(maker.tree.leaves.size()));
  maker.tree.leaves.push_back(second);
  const BranchNodes made = nodes_of(maker);
  EXPECT_EQ(paths(made), (Names{"point/k.i4", "point/x.f4"}));
  EXPECT_EQ(column(made, "point/k.i4").field, (Names{"k"}));
  EXPECT_EQ(made.streams.size(), 1u);
}

const std::pair<std::string, std::vector<StreamerElement>> kHit = {
    "Hit", {basic("id", kInt), basic("e", kFloat), object_member("pos", "Point")}};
const std::pair<std::string, std::vector<StreamerElement>> kPoint = {"Point",
                                                                     {basic("x", kDouble), basic("first", kDouble)}};

TEST(BranchNodes, NamesLoseWhatRepeatsTheBranchAbove) {
  TreeMaker maker;
  const BranchIndex event = maker.element("event.", "Hit", -2);
  maker.element("event.id", "Hit", 0, 0, event);
  maker.element("e", "Hit", 1, 0, event);
  const BranchIndex pos = maker.element("event.pos", "Hit", 2, 2, event);
  maker.element("event.pos.x", "Point", 0, 0, pos);
  const BranchNodes made = nodes_of(maker, infos_of({kHit, kPoint}));
  EXPECT_EQ(paths(made), (Names{"event/e.f4", "event/id.i4", "event/pos/x.f8"}));
  EXPECT_EQ(column(made, "event/pos/x.f8").branch, "event./event.pos/event.pos.x");
}

TEST(BranchNodes, DotsInNamesOfOtherBranchesStay) {
  TreeMaker maker;
  maker.leaf_branch("Muon.pt", "TLeafF", "Muon.pt");
  EXPECT_EQ(paths(nodes_of(maker)), (Names{"Muon.pt.f4"}));
}

TEST(BranchNodes, SplitCollections) {
  TreeMaker maker;
  const BranchIndex hits = maker.element("hits", "vector<Hit>", -1, 4);
  maker.element("hits.id", "Hit", 0, 41, hits);
  maker.element("hits.e", "Hit", 1, 41, hits);
  const BranchNodes made = nodes_of(maker, infos_of({kHit, kPoint}));
  EXPECT_EQ(paths(made), (Names{"hits/offsets.i8", "hits/values/e.f4", "hits/values/id.i4"}));
  EXPECT_EQ(lists_of(made, "hits/values/e.f4"), (Names{"hits/offsets.i8"}));
  EXPECT_EQ(column(made, "hits/offsets.i8").branch, "hits");
  EXPECT_EQ(column(made, "hits/values/e.f4").branch, "hits/hits.e");
  std::set<StreamId> streams;
  for (const Column& c : made.columns) streams.insert(c.stream);
  EXPECT_EQ(streams.size(), 3u);
}

// A class member in a split collection has no branch of its own: the branches of its members make the record.
TEST(BranchNodes, MembersOfMembersOfASplitCollection) {
  TreeMaker maker;
  const BranchIndex hits = maker.element("hits", "vector<Hit>", -1, 4);
  maker.element("hits.id", "Hit", 0, 41, hits);
  maker.element("hits.pos.x", "Point", 0, 41, hits);
  maker.element("hits.pos.first", "Point", 1, 41, hits);
  const BranchNodes made = nodes_of(maker, infos_of({kHit, kPoint}));
  EXPECT_EQ(paths(made),
            (Names{"hits/offsets.i8", "hits/values/id.i4", "hits/values/pos/first.f8", "hits/values/pos/x.f8"}));
  EXPECT_EQ(lists_of(made, "hits/values/pos/x.f8"), (Names{"hits/offsets.i8"}));
  EXPECT_EQ(column(made, "hits/values/pos/x.f8").branch, "hits/hits.pos.x");
}

TEST(BranchNodes, SplitMapsHaveKeyAndValue) {
  TreeMaker maker;
  const StreamerInfos infos =
      infos_of({kPoint, {"pair<int,Point>", {basic("first", kInt), object_member("second", "Point")}}});
  const BranchIndex map = maker.element("map", "map<int,Point>", -1, 4);
  maker.element("map.first", "pair<int,Point>", 0, 41, map);
  maker.element("map.second.x", "Point", 0, 41, map);
  maker.element("map.second.first", "Point", 1, 41, map);  // a member of that name, not the key
  const BranchNodes made = nodes_of(maker, infos);
  EXPECT_EQ(paths(made),
            (Names{"map/offsets.i8", "map/values/key.i4", "map/values/value/first.f8", "map/values/value/x.f8"}));
}

// As unsplit: the branch is that of the one member of std::array.
TEST(BranchNodes, ArraysInSplitMapsAreThemselves) {
  TreeMaker maker;
  StreamerElement numbers = basic("_M_elems", kOffsetArray + kInt);
  numbers.array_length = 2;
  numbers.array_dim = 1;
  numbers.max_index[0] = 2;
  const StreamerInfos infos = infos_of({{"array<int,2>", {numbers}}, {"Other", {numbers}}});
  const BranchIndex map = maker.element("map", "map<int,array<int,2> >", -1, 4);
  maker.element("map.second._M_elems[2]", "array<int,2>", 0, 41, map);
  const BranchIndex other = maker.element("other", "map<int,Other>", -1, 4);
  maker.element("other.second._M_elems[2]", "Other", 0, 41, other);
  EXPECT_EQ(paths(nodes_of(maker, infos)),
            (Names{"map/offsets.i8", "map/values/value.i4x2", "other/offsets.i8", "other/values/value/_M_elems.i4x2"}));
}

TEST(BranchNodes, SplitVectorsOfPairsKeepFirstAndSecond) {
  TreeMaker maker;
  const StreamerInfos infos = infos_of({{"pair<int,float>", {basic("first", kInt), basic("second", kFloat)}}});
  const BranchIndex pairs = maker.element("pairs", "vector<pair<int,float> >", -1, 4);
  maker.element("pairs.first", "pair<int,float>", 0, 41, pairs);
  maker.element("pairs.second", "pair<int,float>", 1, 41, pairs);
  EXPECT_EQ(paths(nodes_of(maker, infos)),
            (Names{"pairs/offsets.i8", "pairs/values/first.i4", "pairs/values/second.f4"}));
}

TEST(BranchNodes, EqualNamesAreToldApart) {
  TreeMaker maker;
  for (int i = 0; i < 3; ++i) maker.leaf_branch("x", "TLeafF", "x");
  maker.leaf_branch("x", "TLeafI", "x");
  const BranchNodes made = nodes_of(maker);
  const Names all = paths(made);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 4u);
  EXPECT_EQ(made.columns[0].path, "x.f4");
  EXPECT_EQ(made.columns[3].path, "x.i4");
  EXPECT_TRUE(made.columns[1].path.starts_with("x")) << made.columns[1].path;
}

TEST(BranchNodes, NamesThatAreNoPathsAreEscaped) {
  TreeMaker maker;
  maker.leaf_branch("a/b", "TLeafF", "a/b");
  maker.leaf_branch("..", "TLeafF", "..");
  const BranchNodes made = nodes_of(maker);
  for (const Column& c : made.columns) {
    EXPECT_EQ(c.path.find('/'), std::string::npos) << c.path;
    EXPECT_NE(c.path.front(), '.') << c.path;
  }
}

TEST(BranchNodes, TablesOfReferencesAreNotShown) {
  TreeMaker maker;
  maker.leaf_branch("x", "TLeafF", "x");
  maker.branch("TRefTable", "TBranchRef", std::nullopt);
  EXPECT_EQ(paths(nodes_of(maker)), (Names{"x.f4"}));
}

TEST(BranchNodes, WhatIsNotDecodedIsRawWithAReason) {
  TreeMaker maker;
  const BranchIndex hits = maker.element("hits", "vector<Hit>", -1, 4);
  maker.element("hits.what", "Unknown", 0, 41, hits);
  const BranchNodes made = nodes_of(maker, infos_of({kHit, kPoint}));
  EXPECT_EQ(paths(made), (Names{"hits/offsets.i8", "hits/values/what/offsets.i8", "hits/values/what/raw.u1"}));
  EXPECT_NE(column(made, "hits/values/what/raw.u1").reason.find("Unknown"), std::string::npos);
  // These are bytes of whole entries, not of items.
  EXPECT_EQ(lists_of(made, "hits/values/what/raw.u1"), (Names{"hits/values/what/offsets.i8"}));
}

TEST(BranchNodes, ATrialDecidesWhereAClassMayHaveItsOwnStreamer) {
  TreeMaker maker;
  maker.element("p", "Hit", 2);  // a member of class Point, with its header
  maker.leaf_branch("x", "TLeafF", "x");
  int asked = 0;
  const BranchNodes made = nodes_of(maker, infos_of({kHit, kPoint}), [&](const Stream& stream) -> Result<> {
    ++asked;
    EXPECT_EQ(stream.kind, Stream::Kind::program);
    return fail(ErrorKind::damaged, "not so");
  });
  EXPECT_EQ(asked, 2);  // with headers of objects, and without
  EXPECT_EQ(paths(made), (Names{"p/offsets.i8", "p/raw.u1", "x.f4"}));
  EXPECT_NE(column(made, "p/raw.u1").reason, "");
}

TEST(BranchNodes, OffsetsLeftOutAreCountedByTheCounter) {
  TreeMaker maker;
  const BranchIndex n = maker.leaf_branch("n", "TLeafS", "n");
  const BranchIndex pt = maker.leaf_branch("pt", "TLeafF", "pt[n]");
  maker.leaf_of(pt).count = maker.tree.branches[n].leaves[0];
  EXPECT_FALSE(nodes_of(maker).streams[1].counter);
  maker.tree.branches[pt].io_bits = 1;
  const BranchNodes made = nodes_of(maker);
  ASSERT_TRUE(made.streams[1].counter);
  EXPECT_EQ(made.streams[1].counter->stream, 0u);
  EXPECT_EQ(made.streams[1].counter->dtype, Dtype::i2);
}

// Branches nest as deep as the file says; this must not exhaust the stack.
TEST(BranchNodes, DeepNestingEnds) {
  TreeMaker maker;
  BranchIndex above = maker.element("b", "Hit", -2);
  for (int i = 0; i < 5000; ++i) above = maker.element("b", "Hit", -2, 0, above);
  EXPECT_LT(nodes_of(maker).nodes.size(), 200u);
}

TEST(BranchNodes, NoBranches) {
  const BranchNodes made = nodes_of(TreeMaker());
  EXPECT_EQ(made.nodes.size(), 1u);
  EXPECT_TRUE(made.columns.empty());
}

}  // namespace
}  // namespace tfile
