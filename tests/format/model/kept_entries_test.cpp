// SPDX-License-Identifier: Apache-2.0
#include "tfile/kept_entries.h"

#include <gtest/gtest.h>

#include <vector>

namespace tfile {
namespace {

using Ranges = std::vector<EntryRange>;

KeptEntries kept(const Ranges& ranges) { return KeptEntries(ranges); }

TEST(KeptEntries, JoinsWhatAdjoinsAndNumbersTheRest) {
  const KeptEntries some = kept({{2, 4}, {4, 5}, {7, 7}, {9, 12}});
  EXPECT_EQ(some.ranges(), (Ranges{{2, 5}, {9, 12}}));
  EXPECT_EQ(some.count(), 6);
  const std::vector<std::int64_t> before = {0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 4, 5, 6, 6};
  for (std::int64_t entry = 0; entry < 14; ++entry)
    EXPECT_EQ(some.before(entry), before[static_cast<std::size_t>(entry)]) << entry;
}

TEST(KeptEntries, TellsWhichEntriesHaveNumbers) {
  const KeptEntries some = kept({{2, 5}, {9, 12}, {20, 21}});
  EXPECT_EQ(some.numbered({0, 7}), some.ranges());
  EXPECT_EQ(some.numbered({1, 4}), (Ranges{{3, 5}, {9, 10}}));
  EXPECT_EQ(some.numbered({3, 3}), Ranges{});
  EXPECT_EQ(some.numbered({6, 100}), (Ranges{{20, 21}}));
}

TEST(KeptEntries, OfAPartCountFromItsBeginning) {
  const KeptEntries some = kept({{2, 5}, {9, 12}});
  EXPECT_EQ(some.within({4, 11}).ranges(), (Ranges{{0, 1}, {5, 7}}));
  EXPECT_EQ(some.within({5, 9}).count(), 0);
}

TEST(KeptEntries, AreAllOrNot) {
  EXPECT_TRUE(kept({{0, 7}}).is_all(7));
  EXPECT_FALSE(kept({{0, 7}}).is_all(8));
  EXPECT_FALSE(kept({{1, 8}}).is_all(7));
  EXPECT_TRUE(kept({}).is_all(0));
  EXPECT_EQ(KeptEntries().before(3), 0);
}

}  // namespace
}  // namespace tfile
