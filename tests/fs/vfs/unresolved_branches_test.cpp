// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <latch>
#include <mutex>
#include <thread>

#include "fake_file.h"
#include "vfs/nodes/loaded_table.h"

namespace tfilefs {
namespace {

using tfile::NodeId;
using Names = std::vector<std::string>;

// Nodes and columns over the streams of a table that is not resolved.
class Below final : public ArrayTable {
 public:
  Below() { entries = 2; }
  tfile::StreamShape shape(tfile::StreamId) const override { return {.chunks = 1, .slots = 1, .stored_bytes = 8}; }
  void add_leaf(NodeId parent, const std::string& leaf_name, const tfile::Column& made) {
    columns.push_back(made);
    tfile::Node& leaf = nodes[directory(parent, leaf_name)];
    leaf.kind = tfile::NodeKind::number;
    leaf.column = static_cast<tfile::ColumnId>(columns.size() - 1);
  }
};

// A table with a column x and unresolved branches b0, b1, ... of one column each.
class UnresolvedTable final : public ArrayTable {
 public:
  explicit UnresolvedTable(std::size_t branches) {
    entries = 2;
    column<std::int32_t>(0, "x.i4", tfile::Role::values, {7, 8});
    for (std::size_t i = 0; i < branches; ++i) {
      const NodeId node = directory(0, "b" + std::to_string(i));
      column<std::int32_t>(node, "a.i4", tfile::Role::values, {static_cast<std::int32_t>(i), 1});
      below_.push_back(columns.back());
      below_.back().path = "b" + std::to_string(i) + "/a.i4";
      columns.pop_back();
      nodes[node].children.clear();
      unresolved.push_back(node);
    }
  }

  Result<std::shared_ptr<const tfile::Table>> resolve_branch(NodeId node, std::size_t ahead) const override {
    {
      const std::lock_guard lock(mutex);
      looks.push_back({node, ahead});
      if (failures > 0 && failures--) return tfile::fail(ErrorKind::io, "bad sector", -1, EIO);
    }
    if (gate) gate->wait();
    auto made = std::make_shared<Below>();
    const NodeId directory = made->directory(0, nodes[node].name);
    add(*made, directory, static_cast<std::size_t>(std::ranges::find(unresolved, node) - unresolved.begin()));
    return made;
  }

  Result<std::shared_ptr<const tfile::Table>> resolve_all() const override {
    const std::lock_guard lock(mutex);
    ++looks_at_all;
    if (failures > 0 && failures--) return tfile::fail(ErrorKind::io, "bad sector", -1, EIO);
    auto made = std::make_shared<Below>();
    made->add_leaf(0, "x.i4", columns[0]);
    for (std::size_t id = 0; id < below_.size(); ++id) {
      const NodeId directory = made->directory(0, "b" + std::to_string(id));
      if (id != unreadable)
        add(*made, directory, id);
      else
        add_unread(*made, directory, id);
    }
    return made;
  }

  struct Look {
    NodeId node;
    std::size_t ahead;
  };
  mutable std::mutex mutex;
  mutable std::vector<Look> looks;
  mutable int looks_at_all = 0, failures = 0;
  std::optional<std::size_t> unreadable;  // a branch that the storage fails to deliver
  std::unique_ptr<std::latch> gate;

 private:
  void add(Below& to, NodeId directory, std::size_t id) const { to.add_leaf(directory, "a.i4", below_[id]); }
  void add_unread(Below& to, NodeId directory, std::size_t id) const {
    tfile::Column ends = below_[id];
    ends.path = to.nodes[directory].name + "/offsets.i8";
    ends.dtype = tfile::Dtype::i8;
    ends.role = tfile::Role::offsets;
    ends.lists = {static_cast<tfile::ColumnId>(to.columns.size())};
    ends.reason = "bad sector";
    tfile::Column raw = ends;
    raw.path = to.nodes[directory].name + "/raw.u1";
    raw.dtype = tfile::Dtype::u1;
    raw.role = tfile::Role::raw;
    to.add_leaf(directory, "offsets.i8", ends);
    to.add_leaf(directory, "raw.u1", raw);
    to.nodes[directory].kind = tfile::NodeKind::raw;
    for (tfile::ColumnId column = ends.lists[0]; column < to.columns.size(); ++column) to.unread.push_back(column);
  }
  std::vector<tfile::Column> below_;
};

struct Rig {
  explicit Rig(std::size_t branches) : table(std::make_shared<UnresolvedTable>(branches)) {
    auto file = std::make_shared<FakeFile>();
    file->table("t", table);
    mount = std::make_unique<FakeMount>(file);
  }
  std::shared_ptr<UnresolvedTable> table;
  std::unique_ptr<FakeMount> mount;
};

TEST(UnresolvedBranches, AListingOfTheTableLooksIntoNone) {
  Rig rig(3);
  EXPECT_EQ(rig.mount->ls("t").value_or(Names{}), (Names{".", "..", "x.i4", "b0", "b1", "b2"}));
  EXPECT_EQ(rig.mount->numbers<std::int32_t>("t/x"), (std::vector<std::int32_t>{7, 8}));
  EXPECT_EQ(rig.mount->text("t/x.txt"), "7\n8\n");
  EXPECT_TRUE(rig.mount->stat("t/b1"));
  EXPECT_TRUE(rig.table->looks.empty());
  EXPECT_EQ(rig.table->looks_at_all, 0);
}

TEST(UnresolvedBranches, EachIsLookedIntoWhenItIsAskedFor) {
  Rig rig(3);
  EXPECT_EQ(rig.mount->ls("t/b1").value_or(Names{}), (Names{".", "..", "a.i4"}));
  EXPECT_EQ(rig.mount->numbers<std::int32_t>("t/b1/a"), (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(rig.mount->text("t/b1.txt"), "1\n1\n");
  EXPECT_EQ(rig.mount->text("t/b1/a.txt"), "1\n1\n");
  EXPECT_FALSE(rig.mount->stat("t/b1/.schema.json")) << "of the table alone";
  ASSERT_EQ(rig.table->looks.size(), 1u);
  EXPECT_EQ(rig.table->looks[0].ahead, 0u);
  EXPECT_EQ(rig.table->looks_at_all, 0);
}

TEST(UnresolvedBranches, WhoGoesThroughThemHasMoreTriedEachTime) {
  Rig rig(4);
  for (const char* path : {"t/b0", "t/b2", "t/b1", "t/b3"}) EXPECT_TRUE(rig.mount->ls(path));
  ASSERT_EQ(rig.table->looks.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rig.table->looks[i].ahead, (std::size_t{1} << i) - 1);
}

TEST(UnresolvedBranches, ViewsOfTheTableHaveThemAllAtOnce) {
  Rig rig(2);
  const std::string schema = rig.mount->text("t/.schema.json");
  EXPECT_NE(schema.find("\"b0"), schema.npos) << schema;
  EXPECT_EQ(rig.mount->text("t.jsonl"), R"({"x":7,"b0":{"a":0},"b1":{"a":1}})"
                                        "\n"
                                        R"({"x":8,"b0":{"a":1},"b1":{"a":1}})"
                                        "\n");
  EXPECT_EQ(rig.table->looks_at_all, 1);
  EXPECT_TRUE(rig.table->looks.empty());
}

TEST(UnresolvedBranches, NoneIsLookedIntoOnceTheTableIsWhole) {
  Rig rig(2);
  EXPECT_NE(rig.mount->text("t.jsonl"), "");
  EXPECT_EQ(rig.mount->ls("t/b1").value_or(Names{}), (Names{".", "..", "a.i4"}));
  EXPECT_EQ(rig.mount->numbers<std::int32_t>("t/b1/a"), (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(rig.mount->text("t/b1.txt"), "1\n1\n");
  EXPECT_EQ(rig.mount->text("t/b1/a.txt"), "1\n1\n");
  EXPECT_EQ(rig.table->looks_at_all, 1);
  EXPECT_TRUE(rig.table->looks.empty());
}

TEST(UnresolvedBranches, TwoWhoLookAtOnceHaveItTriedOnce) {
  Rig rig(1);
  rig.table->gate = std::make_unique<std::latch>(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      EXPECT_EQ(rig.mount->numbers<std::int32_t>("t/b0/a"), (std::vector<std::int32_t>{0, 1}));
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  rig.table->gate->count_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(rig.table->looks.size(), 1u);
}

TEST(UnresolvedBranches, WhatTheStorageRefusedIsAskedAgain) {
  Rig rig(1);
  rig.table->failures = 1;
  const auto first = rig.mount->ls("t/b0");
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::io);
  EXPECT_EQ(rig.mount->ls("t/b0").value_or(Names{}), (Names{".", "..", "a.i4"}));
  rig.table->failures = 1;
  EXPECT_EQ(rig.mount->text("t/.schema.json").substr(0, 6), "error:");
  EXPECT_NE(rig.mount->text("t/.schema.json").find("\"b0"), std::string::npos);
}

TEST(UnresolvedBranches, WhatTheStorageRefusesIsLeftOutOfViewsUntilItIsGiven) {
  Rig rig(2);
  rig.table->unreadable = 1;
  const std::string without = R"({"x":7,"b0":{"a":0}})"
                              "\n"
                              R"({"x":8,"b0":{"a":1}})"
                              "\n";
  for (int look = 1; look < 3; ++look) {
    EXPECT_EQ(rig.mount->text("t.jsonl"), without);
    EXPECT_GE(rig.table->looks_at_all, look) << "the storage is asked again";
    EXPECT_NE(rig.mount->text("t/.schema.json").find("bad sector"), std::string::npos);
  }
  rig.table->unreadable.reset();
  EXPECT_EQ(rig.mount->text("t.jsonl"), R"({"x":7,"b0":{"a":0},"b1":{"a":1}})"
                                        "\n"
                                        R"({"x":8,"b0":{"a":1},"b1":{"a":1}})"
                                        "\n");
  EXPECT_EQ(rig.mount->text("t/.schema.json").find("bad sector"), std::string::npos);
  const int looks = rig.table->looks_at_all;
  EXPECT_NE(rig.mount->text("t.csv").find("x"), std::string::npos);
  EXPECT_EQ(rig.table->looks_at_all, looks) << "what is whole is kept";
}

}  // namespace
}  // namespace tfilefs
