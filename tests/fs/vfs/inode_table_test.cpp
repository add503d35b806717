// SPDX-License-Identifier: Apache-2.0
#include "vfs/inode_table.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace tfilefs {
namespace {

class Nothing : public Vnodes {
 public:
  void attributes(VnodeId, Reply<Attributes> reply) const override { reply(Attributes{}); }
};

Entry entry() { return {std::make_shared<const Nothing>(), {}}; }
constexpr Inode::State kDirectory{false, 0};

// Like refer(), but returns the inode itself.
InodePtr refer(InodeTable& table, const InodePtr& parent, std::string_view name, Inode::State state) {
  return table.find(table.refer(parent, name, entry(), state).id);
}

TEST(InodeTable, NumbersAreOfPaths) {
  InodeTable one(entry()), two(entry());
  const auto d = refer(one, one.find(kRootId), "d", kDirectory);
  const auto f = refer(one, d, "f", {true, 1});
  refer(two, two.find(kRootId), "other", kDirectory);
  const auto d2 = refer(two, two.find(kRootId), "d", kDirectory);
  EXPECT_EQ(d->number, d2->number);
  EXPECT_EQ(refer(two, d2, "f", {true, 9})->number, f->number);
  EXPECT_EQ(one.number_of(*d, "f"), f->number);
  EXPECT_EQ(two.number_of(*d2, "f"), f->number);
  EXPECT_NE(one.number_of(*one.find(kRootId), "f"), f->number);
  EXPECT_EQ(path_of(*f), "/d/f");
}

TEST(InodeTable, CountsLookups) {
  InodeTable table(entry());
  const InodeId id = refer(table, table.find(kRootId), "f", {true, 1})->id;
  EXPECT_EQ(refer(table, table.find(kRootId), "f", {true, 1})->id, id);
  table.forget(id, 1);
  EXPECT_TRUE(table.find(id));
  table.forget(id, 1);
  EXPECT_FALSE(table.find(id));
  EXPECT_EQ(table.size(), 1u);
  table.forget(id, 1);
  table.forget(kRootId, 100);
  EXPECT_TRUE(table.find(kRootId));
}

TEST(InodeTable, AnotherStateHasAnIdOfItsOwnAndTheSameNumber) {
  InodeTable table(entry());
  const auto root = table.find(kRootId);
  const auto old_file = refer(table, root, "f", {true, 1});
  const auto new_file = refer(table, root, "f", {true, 2});
  EXPECT_NE(new_file->id, old_file->id);
  EXPECT_EQ(new_file->number, old_file->number);
  EXPECT_EQ(refer(table, root, "f", {true, 1})->id, old_file->id);
  table.forget(old_file->id, 2);
  EXPECT_TRUE(table.find(new_file->id));
  EXPECT_EQ(table.number_of(*root, "f"), new_file->number);
}

TEST(InodeTable, AForgottenParentThatComesBackKnowsItsChildren) {
  InodeTable table(entry());
  const auto root = table.find(kRootId);
  auto d = refer(table, root, "d", kDirectory);
  const auto f = refer(table, d, "f", {true, 1});
  table.forget(d->id, 1);
  d = refer(table, root, "d", kDirectory);
  EXPECT_EQ(refer(table, d, "f", {true, 1})->id, f->id);
}

TEST(InodeTable, TheOldestFilesBeyondTheLimitAreToBeForgotten) {
  InodeTable table(entry(), 80);
  const auto root = table.find(kRootId);
  const auto directory = refer(table, root, "d", kDirectory);
  std::map<std::string, InodeId> ids;
  InodePtr open;  // by a program
  bool is_crowded = false;
  for (int i = 0; i < 100 && !is_crowded; ++i) {
    const auto made = table.refer(directory, "f" + std::to_string(i), entry(), {true, 1});
    ids["f" + std::to_string(i)] = made.id;
    is_crowded = made.is_crowded;
    if (i == 1) open = table.find(made.id);
  }
  EXPECT_EQ(table.size(), 81u);
  const auto names = table.oldest();
  ASSERT_EQ(names.size(), 11u);
  EXPECT_EQ(names[0].name, "f0");
  EXPECT_EQ(names[1].name, "f2");
  for (const auto& each : names) {
    EXPECT_EQ(each.directory, directory->id);
    table.forget(ids[each.name], 1);
  }
  // The kernel has forgotten them: there is room again.
  EXPECT_FALSE(table.refer(directory, "new", entry(), {true, 1}).is_crowded);
  for (int i = 0; i < 9; ++i) table.refer(directory, "more" + std::to_string(i), entry(), {true, 1});
  EXPECT_TRUE(table.refer(directory, "last", entry(), {true, 1}).is_crowded);
}

TEST(InodeTable, AFileThatIsOpenedBeforeTheKernelIsAskedIsTold) {
  InodeTable table(entry(), 8);
  const auto root = table.find(kRootId);
  for (int i = 0; i < 9; ++i) table.refer(root, "f" + std::to_string(i), entry(), {true, 1});
  const auto names = table.oldest();
  ASSERT_FALSE(names.empty());
  EXPECT_FALSE(table.is_used(names[0].file));
  const InodePtr open = table.find(names[0].file);
  EXPECT_EQ(open->name, names[0].name);
  EXPECT_TRUE(table.is_used(names[0].file));
}

// Where files can be renamed, each keeps its inode.
TEST(InodeTable, FilesThatKeepTheirInodesAreForgotten) {
  InodeTable table(entry(), 8);
  const auto root = table.find(kRootId);
  const auto file = [](std::uint64_t which) { return Inode::State{true, which, true}; };
  for (std::uint64_t i = 1; i < 10; ++i) table.refer(root, "f" + std::to_string(i), entry(), file(i));
  table.refer(root, "moved", entry(), file(1));  // its name is another's now
  const InodePtr open = table.find(table.refer(root, "f2", entry(), file(2)).id);
  const auto names = table.oldest();
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[0].name, "f3");
}

TEST(InodeTable, AFileInThePlaceOfOneThatLivesElsewhereHasItsOwnNumber) {
  InodeTable table(entry());
  const auto root = table.find(kRootId);
  const auto file = [](std::uint64_t which) { return Inode::State{true, which, true}; };
  const auto moved = refer(table, root, "a", file(1));
  EXPECT_EQ(refer(table, root, "b", file(1)), moved);
  const auto another = refer(table, root, "a", file(2));
  EXPECT_NE(another->number, moved->number);
  EXPECT_NE(refer(table, root, "a", file(3))->number, moved->number);
  EXPECT_EQ(refer(table, root, "a", file(2)), another);
  EXPECT_EQ(refer(table, root, "b", file(1)), moved);
  // The entries of a column that are committed, and those behind them, are one file.
  const auto staged = refer(table, root, "column", file(4));
  EXPECT_EQ(refer(table, root, "column", {true, 5})->number, staged->number);
}

// The source gives the number of a file that was removed to the next one.
TEST(InodeTable, ANewFileIsNotTheRemovedOneOfTheSameNumber) {
  InodeTable table(entry());
  const auto root = table.find(kRootId);
  const Inode::State file{true, 1, true};
  const auto removed = refer(table, root, "a", file);
  const auto made = table.find(table.refer(root, "b", entry(), file, true).id);
  EXPECT_NE(made, removed);
  EXPECT_EQ(refer(table, root, "b", file), made);
  EXPECT_EQ(refer(table, root, "a", file), made);  // a link
  EXPECT_TRUE(table.has_left(*removed));
  table.forget(removed->id, 1);
  EXPECT_EQ(refer(table, root, "b", file), made);
  EXPECT_NE(table.find(table.refer(root, "b", entry(), file, true).id), made);
}

TEST(InodeTable, AFileThatIsGoneIsFoundNoMore) {
  InodeTable table(entry());
  const auto root = table.find(kRootId);
  const Inode::State file{true, 1, true};
  const auto gone = refer(table, root, "a", file);
  table.remove(2);  // not known
  EXPECT_EQ(refer(table, root, "b", file), gone);
  table.remove(1);
  const auto another = refer(table, root, "b", file);
  EXPECT_NE(another, gone);
  table.forget(gone->id, 2);
  EXPECT_EQ(refer(table, root, "c", file), another);
}

TEST(InodeTable, TheKernelIsNotAskedForEachFileThatItKeeps) {
  InodeTable table(entry(), 80);
  const auto root = table.find(kRootId);
  int crowded = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!table.refer(root, "f" + std::to_string(i), entry(), {true, 1}).is_crowded) continue;
    ++crowded;
    EXPECT_FALSE(table.oldest().empty());
  }
  EXPECT_LT(crowded, 100);
}

TEST(InodeTable, FilesOfTheOldestExpressionsAreForgotten) {
  InodeTable table(entry(), 1000, 3);
  const auto root = table.find(kRootId);
  std::vector<InodePtr> inside;
  for (int i = 0; i < 5; ++i) {
    const auto directory = refer(table, root, "e" + std::to_string(i), kDirectory);
    EXPECT_EQ(table.note_made(directory->id), i >= 3);
    const auto below = refer(table, directory, "d", kDirectory);
    inside.push_back(refer(table, below, "f", {true, 1}));
  }
  const InodeId first = inside[0]->id;
  inside[0].reset();  // the others are open
  const auto names = table.release_made();
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(names[0].file, first);
  table.forget(first, 1);
  EXPECT_TRUE(table.note_made(table.find(table.number_of(*root, "e4"))->id));  // five, until the next call
  inside.clear();
  table.release_made();  // without a generation they are not found again, and stay as they are
  EXPECT_FALSE(table.entry(*table.find(table.number_of(*root, "e0"))).vnodes->is_released());
}

TEST(InodeTable, RemembersWhosePagesTheKernelHas) {
  InodeTable table(entry());
  const auto f = refer(table, table.find(kRootId), "f", {true, 1});
  EXPECT_EQ(table.exchange_version(*f, 5), 0u);
  EXPECT_EQ(table.exchange_version(*f, 6), 5u);
}

TEST(InodeMap, KeepsWhatCollides) {
  InodeMap<std::unique_ptr<int>> map;
  std::map<InodeId, int> model;
  std::mt19937_64 random(7);
  for (int step = 0; step < 20000; ++step) {
    // Few home slots, also at the end of the table, so that searches are long and wrap around.
    const InodeId id = (random() % 8) << 32 | (random() % 2 ? 60 + random() % 8 : random() % 4);
    if (random() % 3 == 0 && model.contains(id)) {
      EXPECT_EQ(*map.take(id), model.at(id));
      model.erase(id);
    } else {
      map[id] = std::make_unique<int>(step);
      model[id] = step;
    }
    ASSERT_EQ(map.size(), model.size());
  }
  for (InodeId high = 0; high < 8; ++high) {
    for (InodeId low = 0; low < 70; ++low) {
      const InodeId id = high << 32 | low;
      const auto* found = map.find(id);
      ASSERT_EQ(found != nullptr, model.contains(id));
      if (found) {
        EXPECT_EQ(**found, model.at(id));
      }
    }
  }
}

}  // namespace
}  // namespace tfilefs
