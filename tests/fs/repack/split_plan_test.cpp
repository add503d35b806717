// SPDX-License-Identifier: Apache-2.0
#include "repack/split_plan.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

SplitTable table(const std::string& path, std::int64_t entries, std::uint64_t bytes, std::int64_t cluster) {
  SplitTable made{path, entries, bytes, {}};
  for (std::int64_t end = cluster; end < entries; end += cluster) made.cluster_ends.push_back(end);
  made.cluster_ends.push_back(entries);
  return made;
}

// Entries whose sizes are not those of the estimate, and grow.
std::uint64_t size_of(const tfile::EntryRange& range) {
  double bytes = 0;
  for (std::int64_t i = range.begin; i < range.end; ++i) bytes += 150.0 + static_cast<double>(i) / 50;
  return static_cast<std::uint64_t>(bytes);
}

TEST(SplitPlan, GivesEveryEntryOnceAndKeepsToTheSize) {
  SplitPlan plan({table("t", 10'000, 1'000'000, 7)}, 200'000);
  std::int64_t at = 0;
  int files = 0, again = 0;
  while (!plan.is_done()) {
    ASSERT_LT(files + again, 100);
    const tfile::EntryRange share = plan.next().at("t");
    EXPECT_EQ(share.begin, at);
    const std::uint64_t bytes = size_of(share);
    if (!plan.take(bytes)) {
      ++again;
      continue;
    }
    EXPECT_LT(bytes, 210'000u);
    at = share.end;
    ++files;
  }
  EXPECT_EQ(at, 10'000);
  EXPECT_LE(files, 1.25 * 2'500'000 / 200'000);
}

TEST(SplitPlan, EndsFilesWithClusters) {
  SplitPlan plan({table("t", 1000, 100'000, 90)}, 30'000);
  while (!plan.is_done()) {
    const tfile::EntryRange share = plan.next().at("t");
    EXPECT_TRUE(share.end == 1000 || share.end % 90 == 0) << share.end;
    ASSERT_TRUE(plan.take(static_cast<std::uint64_t>(share.size()) * 100));
  }
}

TEST(SplitPlan, DividesTablesOfEquallyManyEntriesAtTheSameOnes) {
  SplitPlan plan({table("a", 1000, 50'000, 90), table("b", 1000, 50'000, 70), table("c", 3, 10, 3)}, 30'000);
  std::int64_t last = 0;
  while (!plan.is_done()) {
    const auto shares = plan.next();
    EXPECT_EQ(shares.at("a"), shares.at("b"));
    EXPECT_EQ(shares.at("c").begin, last);
    last = shares.at("c").end;
    ASSERT_TRUE(plan.take(static_cast<std::uint64_t>(shares.at("a").size()) * 100));
  }
  EXPECT_EQ(last, 3);
}

TEST(SplitPlan, IsOneFileForWhatIsSmallOrCannotBeDivided) {
  SplitPlan small({table("t", 10, 100, 10)}, 30'000);
  EXPECT_EQ(small.next().at("t").size(), 10);
  EXPECT_TRUE(small.take(5'000));
  EXPECT_TRUE(small.is_done());
  SplitPlan single({table("t", 1, 1'000'000, 1)}, 1000);
  EXPECT_TRUE(single.take(1'000'000));
  EXPECT_TRUE(single.is_done());
  SplitPlan empty({table("t", 0, 0, 1)}, 1000);
  EXPECT_EQ(empty.next().at("t").size(), 0);
  EXPECT_TRUE(empty.take(300));
  EXPECT_TRUE(empty.is_done());
}

}  // namespace
}  // namespace tfilefs
