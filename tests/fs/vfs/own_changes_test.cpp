// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/own_changes.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

tfile::Identity state(std::uint64_t number, std::uint64_t object = 1) {
  return {.size = 100, .modified_ns = static_cast<std::int64_t>(number), .object = {0, object}, .state = number};
}

TEST(OwnChanges, AreWhatCommitsLeave) {
  OwnChanges changes;
  const std::uint64_t age = changes.begin(state(1));
  EXPECT_TRUE(changes.made(age, state(2))) << "under way: any";
  changes.end(state(3));
  EXPECT_TRUE(changes.made(age, state(3)));
  EXPECT_FALSE(changes.made(age, state(4)));
  EXPECT_EQ(changes.begin(state(3)), age);
  changes.end(state(5));
  EXPECT_TRUE(changes.made(age, state(5))) << "of two commits";
}

TEST(OwnChanges, AreNoneBehindAnotherProgram) {
  OwnChanges changes;
  const std::uint64_t before = changes.begin(state(1));
  changes.end(state(2));
  const std::uint64_t after = changes.begin(state(3));
  EXPECT_NE(before, after);
  EXPECT_FALSE(changes.made(before, state(4)));
  EXPECT_TRUE(changes.made(after, state(4)));
  changes.end(state(5));
  EXPECT_FALSE(changes.made(before, state(5)));
}

TEST(OwnChanges, LeaveAFileAloneThatTheyHaveReplaced) {
  OwnChanges changes;
  const std::uint64_t age = changes.begin(state(1, 1));
  changes.end(state(2, 2));
  EXPECT_TRUE(changes.made(age, state(9, 1))) << "it has lost its name, which is a change";
}

TEST(OwnChanges, TellThatACommitCameBetween) {
  OwnChanges changes;
  const std::uint64_t moment = changes.moment();
  changes.begin(state(1));
  EXPECT_NE(changes.moment(), moment);
  const std::uint64_t inside = changes.moment();
  changes.end(state(2));
  EXPECT_NE(changes.moment(), inside);
}

}  // namespace
}  // namespace tfilefs
