// SPDX-License-Identifier: Apache-2.0
#include "vfs/inode_table.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

class Nothing : public Holder {
 public:
  void attributes(Slot, Reply<Attributes> reply) const override { reply(Attributes{}); }
};

Entry entry() { return {std::make_shared<const Nothing>(), {}}; }
constexpr Inode::State kDirectory{false, 0};

TEST(InodeTable, NumbersAreOfPaths) {
  InodeTable one(entry()), two(entry());
  const auto d = one.refer(one.find(kRootId), "d", entry(), kDirectory);
  const auto f = one.refer(d, "f", entry(), {true, 1});
  two.refer(two.find(kRootId), "other", entry(), kDirectory);
  const auto d2 = two.refer(two.find(kRootId), "d", entry(), kDirectory);
  EXPECT_EQ(d->number, d2->number);
  EXPECT_EQ(two.refer(d2, "f", entry(), {true, 9})->number, f->number);
  EXPECT_EQ(one.number_of(*d, "f"), f->number);
  EXPECT_EQ(two.number_of(*d2, "f"), f->number);
  EXPECT_NE(one.number_of(*one.find(kRootId), "f"), f->number);
  EXPECT_EQ(path_of(*f), "/d/f");
}

TEST(InodeTable, CountsLookups) {
  InodeTable table(entry());
  const InodeId id = table.refer(table.find(kRootId), "f", entry(), {true, 1})->id;
  EXPECT_EQ(table.refer(table.find(kRootId), "f", entry(), {true, 1})->id, id);
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
  const auto old_file = table.refer(root, "f", entry(), {true, 1});
  const auto new_file = table.refer(root, "f", entry(), {true, 2});
  EXPECT_NE(new_file->id, old_file->id);
  EXPECT_EQ(new_file->number, old_file->number);
  EXPECT_EQ(table.refer(root, "f", entry(), {true, 1})->id, old_file->id);
  table.forget(old_file->id, 2);
  EXPECT_TRUE(table.find(new_file->id));
  EXPECT_EQ(table.number_of(*root, "f"), new_file->number);
}

TEST(InodeTable, AForgottenParentThatComesBackKnowsItsChildren) {
  InodeTable table(entry());
  const auto root = table.find(kRootId);
  auto d = table.refer(root, "d", entry(), kDirectory);
  const auto f = table.refer(d, "f", entry(), {true, 1});
  table.forget(d->id, 1);
  d = table.refer(root, "d", entry(), kDirectory);
  EXPECT_EQ(table.refer(d, "f", entry(), {true, 1})->id, f->id);
}

TEST(InodeTable, RemembersWhosePagesTheKernelHas) {
  InodeTable table(entry());
  const auto f = table.refer(table.find(kRootId), "f", entry(), {true, 1});
  EXPECT_EQ(table.exchange_version(*f, 5), 0u);
  EXPECT_EQ(table.exchange_version(*f, 6), 5u);
}

}  // namespace
}  // namespace tfilefs
