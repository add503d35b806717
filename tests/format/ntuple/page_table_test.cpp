// SPDX-License-Identifier: Apache-2.0
#include "ntuple/page_table.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tfile {
namespace {

TEST(ColumnPages, SayOfEachWhatWasAdded) {
  std::mt19937_64 random(5);
  std::vector<Page> expected;
  ColumnPages pages;
  std::uint32_t cluster = 0;
  std::int64_t element = 0;
  for (int i = 0; i < 1000; ++i) {
    if (random() % 3 == 0) cluster += static_cast<std::uint32_t>(random() % (i % 100 == 0 ? 20'000 : 4));
    Page page;
    page.cluster = cluster;
    page.representation = static_cast<std::uint8_t>(random() % 16);
    page.elements = static_cast<std::uint32_t>(random() % 100'000);
    page.has_checksum = random() % 2;
    page.range = {random() >> 16, static_cast<std::uint32_t>(random()) >> 1};
    page.first_element = element;
    element += page.elements;
    pages.add(cluster, page.representation, page.elements, page.range, page.has_checksum);
    expected.push_back(page);
  }
  pages.close();
  EXPECT_EQ(pages.elements(), element);
  std::size_t at = 0;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const Page page = pages.page(i);
    if (page.kind == Page::Kind::zeros) continue;  // bridges clusters without a page
    const Page& wanted = expected[at++];
    EXPECT_EQ(page.cluster, wanted.cluster);
    EXPECT_EQ(page.representation, wanted.representation);
    EXPECT_EQ(page.elements, wanted.elements);
    EXPECT_EQ(page.has_checksum, wanted.has_checksum);
    EXPECT_EQ(page.range, wanted.range);
    EXPECT_EQ(page.first_element, wanted.first_element);
    EXPECT_EQ(pages.page(pages.page_of(page.first_element)).first_element, page.first_element);
  }
  EXPECT_EQ(at, expected.size());
  for (std::uint32_t c = 0; c <= cluster + 1; ++c) {
    std::int64_t first = element;
    for (auto page = expected.rbegin(); page != expected.rend() && page->cluster >= c; ++page)
      first = page->first_element;
    EXPECT_EQ(pages.first_of_cluster(c), first) << c;
  }
}

TEST(ColumnPages, WithoutBytesAreZerosOrLost) {
  ColumnPages pages;
  ASSERT_TRUE(pages.add_without_bytes(0, Page::Kind::zeros, 300'000, 100'000));
  ASSERT_TRUE(pages.add_without_bytes(1, Page::Kind::lost, std::int64_t{5} << 31));
  pages.add(2, 0, 7, {UINT64_MAX, 0}, false);  // a range that does not exist
  pages.close();
  EXPECT_EQ(pages.elements(), 300'000 + (std::int64_t{5} << 31) + 7);
  EXPECT_EQ(pages.page(0).kind, Page::Kind::zeros);
  EXPECT_EQ(pages.page(3).kind, Page::Kind::lost);
  EXPECT_EQ(pages.page(pages.size() - 1).kind, Page::Kind::lost);
  EXPECT_EQ(pages.first_of_cluster(2), pages.elements() - 7);
  ColumnPages absurd;
  EXPECT_FALSE(absurd.add_without_bytes(0, Page::Kind::zeros, INT64_MAX));
  EXPECT_FALSE(absurd.add_without_bytes(0, Page::Kind::zeros, -1));
}

TEST(ColumnPages, TakeSixteenBytesEach) {
  ColumnPages pages;
  for (std::uint32_t i = 0; i < 100'000; ++i) pages.add(i, 0, 1, {i, 4}, true);
  pages.close();
  EXPECT_LE(pages.memory(), 100'000 * 16.2);
}

}  // namespace
}  // namespace tfile
