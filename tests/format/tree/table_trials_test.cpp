// SPDX-License-Identifier: Apache-2.0
#include "tree/read/table_trials.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "format/source/watched_source.h"
#include "format/streamer/object_image.h"
#include "format/streamer/streamer_info_image.h"
#include "format/tree/basket_image.h"

namespace tfile {
namespace {

using test::WatchedSource;

// Class Outer has a member of class Inner, which has a number. In the file, each Inner has a header.
StreamerInfos classes() {
  StreamerElement number;
  number.kind = ElementKind::basic;
  number.name = "number";
  number.type = element_type::kInt;
  number.type_name = "int";
  StreamerElement inner = number;
  inner.kind = ElementKind::object_any;
  inner.name = "inner";
  inner.type = element_type::kAny;
  inner.type_name = "Inner";
  std::vector<StreamerInfo> infos(2);
  infos[0].class_name = "Inner";
  infos[0].elements = {number};
  infos[1].class_name = "Outer";
  infos[1].elements = {inner};
  for (StreamerInfo& info : infos) info.version = 1;
  std::vector<std::string> warnings;
  return StreamerInfos::read(test::streamer_info_record(infos, 0).all(), 0, warnings);
}

constexpr std::int32_t kEntries = 3;

std::vector<std::byte> basket_of(bool as_described) {
  test::ObjectImage data;
  for (std::int32_t entry = 0; entry < kEntries; ++entry) {
    const std::size_t at = data.open(1);
    data.put(entry);
    data.close(at);
    if (!as_described) data.put(std::uint16_t{7});
  }
  test::BasketImage image;
  image.entries = kEntries;
  image.data = data.all();
  return image.record();
}

// A file with branches of class Outer, of one basket each. Those in `raw` do not follow the description of the class.
struct Table {
  explicit Table(std::size_t count, const std::vector<std::size_t>& raw = {}, std::size_t apart = 0)
      : infos(std::make_shared<const StreamerInfos>(classes())) {
    const auto entry = std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{0, kEntries});
    std::vector<std::byte> file(100);
    TreeRecord tree;
    for (std::size_t i = 0; i < count; ++i) {
      BranchRecord branch;
      branch.name = "branch" + std::to_string(i);
      branch.class_name = "TBranchElement";
      branch.element_class = "Outer";
      branch.class_version = 1;
      const auto basket = basket_of(std::find(raw.begin(), raw.end(), i) == raw.end());
      branch.baskets.seek = {file.size()};
      branch.baskets.nbytes = {static_cast<std::uint32_t>(basket.size())};
      branch.baskets.entry = entry;
      file.insert(file.end(), basket.begin(), basket.end());
      file.resize(file.size() + apart);
      storages.push_back(branch);
      tree.branches.push_back(std::move(branch));
      tree.top.push_back(static_cast<BranchIndex>(i));
    }
    source = std::make_unique<WatchedSource>(std::move(file));
    made = make_unresolved(tree, *infos, {});
    streams = StreamSlots(std::move(made.streams));
    trials = std::make_unique<const TableTrials>(
        std::move(tree), infos, made.unresolved, std::map<BranchIndex, BranchLayout>(), storages,
        [this](const BranchStorage&) { return source.get(); }, streams, made.columns);
  }

  std::vector<std::string> below(UnresolvedId id) const {
    std::vector<std::string> paths;
    for (const Column& column : trials->nodes_below(id, made.nodes[made.unresolved[id].node]).columns)
      paths.push_back(column.path);
    return paths;
  }
  std::uint64_t place_of(std::size_t branch) const { return storages[branch].baskets.seek[0]; }

  std::shared_ptr<const StreamerInfos> infos;
  std::vector<BranchStorage> storages;
  std::unique_ptr<WatchedSource> source;
  BranchNodes made;
  StreamSlots streams;
  std::unique_ptr<const TableTrials> trials;
};

TEST(TableTrials, AnOutlineNamesBranchesThatNobodyTried) {
  const Table table(3);
  EXPECT_TRUE(table.made.columns.empty());
  ASSERT_EQ(table.made.nodes[0].children.size(), 3u);
  ASSERT_EQ(table.made.unresolved.size(), 3u);
  for (UnresolvedId id = 0; id < 3; ++id) {
    const NodeId node = table.made.unresolved[id].node;
    EXPECT_EQ(node, table.made.nodes[0].children[id]);
    EXPECT_EQ(table.made.nodes[node].name, "branch" + std::to_string(id));
    EXPECT_TRUE(table.streams[table.made.unresolved[id].stream].is_stand_in);
  }
  EXPECT_TRUE(table.source->requests().empty());
}

TEST(TableTrials, OneBranchIsOneRead) {
  const Table table(3, {1}, 1 << 20);
  ASSERT_TRUE(table.trials->try_branch(1, 0));
  EXPECT_EQ(table.source->requests().size(), 1u);
  EXPECT_EQ(table.below(1), (std::vector<std::string>{"branch1/offsets.i8", "branch1/raw.u1"}));
  EXPECT_FALSE(table.streams[1].is_stand_in);
  EXPECT_TRUE(table.streams[0].is_stand_in);
  EXPECT_EQ(table.trials->resolved_with(1), std::optional<UnresolvedId>(1));
  EXPECT_EQ(table.trials->resolved_with(0), std::nullopt);
  ASSERT_TRUE(table.trials->try_branch(1, 0));
  ASSERT_TRUE(table.trials->try_branch(2, 1));
  EXPECT_EQ(table.source->requests().size(), 2u) << "what was tried is remembered, and what is ahead comes with it";
  EXPECT_EQ(table.below(2), (std::vector<std::string>{"branch2/inner/number.i4"}));
  EXPECT_EQ(table.below(0), (std::vector<std::string>{"branch0/inner/number.i4"}));
  EXPECT_EQ(table.trials->nodes_below(2, Node()).nodes.size(), 4u) << "the table, the branch, inner, number";
}

TEST(TableTrials, AllAreReadTogetherAndAreWhatTheyAreOneByOne) {
  const Table table(200, {7, 150});
  ASSERT_TRUE(table.trials->try_all());
  EXPECT_EQ(table.source->requests().size(), 1u);
  const BranchNodes all = table.trials->all_nodes();
  std::vector<std::string> together, one_by_one;
  for (const Column& column : all.columns) together.push_back(column.path);
  for (UnresolvedId id = 0; id < 200; ++id)
    for (const std::string& path : table.below(id)) one_by_one.push_back(path);
  EXPECT_EQ(together, one_by_one);
  EXPECT_EQ(together.size(), 202u);
  EXPECT_EQ(all.nodes[0].children.size(), 200u);
}

TEST(TableTrials, StorageThatFailsOnceLeavesNoVerdict) {
  const Table table(3, {}, 1 << 20);
  table.source->fail_at(table.place_of(1));
  const auto unread = table.trials->try_all();
  ASSERT_TRUE(unread);
  ASSERT_EQ(unread->size(), 1u);
  EXPECT_EQ(unread->at(table.made.unresolved[1].stream).kind, ErrorKind::io);
  std::vector<std::string> paths;
  for (const Column& column : table.trials->all_nodes(*unread).columns) paths.push_back(column.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"branch0/inner/number.i4", "branch1/offsets.i8", "branch1/raw.u1",
                                             "branch2/inner/number.i4"}));
  EXPECT_FALSE(table.trials->try_branch(1, 2));
  EXPECT_TRUE(table.streams[1].is_stand_in);
  EXPECT_TRUE(table.trials->try_branch(0, 2)) << "its neighbours are as readable as ever";
  table.source->fail_at(std::nullopt);
  ASSERT_TRUE(table.trials->try_branch(1, 0));
  EXPECT_EQ(table.below(1), (std::vector<std::string>{"branch1/inner/number.i4"}));
}

TEST(TableTrials, DamageIsAVerdict) {
  Table table(2);
  table.storages[0].baskets.seek[0] = 1 << 30;
  ASSERT_TRUE(table.trials->try_all());
  EXPECT_EQ(table.below(0), (std::vector<std::string>{"branch0/inner/number.i4"})) << "as its class says";
  EXPECT_EQ(table.below(1), (std::vector<std::string>{"branch1/inner/number.i4"}));
}

TEST(TableTrials, ThreadsThatLookAtOnceSeeTheSame) {
  const Table table(64, {3});
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      if (t == 0) {
        EXPECT_TRUE(table.trials->try_all());
        return;
      }
      for (UnresolvedId id = 0; id < 64; ++id) {
        EXPECT_TRUE(table.trials->try_branch(id, t));
        EXPECT_FALSE(table.streams[id].is_stand_in);
        EXPECT_EQ(table.below(id).size(), id == 3 ? 2u : 1u);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tfile
