// SPDX-License-Identifier: Apache-2.0
#include "remote/server/listing_draft.h"

#include <gtest/gtest.h>

namespace tfile {
namespace {

std::vector<std::string> names(const RemoteListing& listing) {
  std::vector<std::string> found;
  for (const RemoteEntry& entry : listing.entries) found.push_back(entry.name);
  return found;
}

TEST(ListingDraft, NamesComeInOrder) {
  ListingDraft draft;
  for (const char* name : {"b", "a.root", "B", "\xff"}) ASSERT_TRUE(draft.add({name, false, 1, 0}));
  const RemoteListing listing = std::move(draft).finish();
  EXPECT_EQ(names(listing), (std::vector<std::string>{"B", "a.root", "b", "\xff"}));
  EXPECT_TRUE(listing.left_out.empty());
}

TEST(ListingDraft, NamesThatNoFileCanHaveAreLeftOut) {
  ListingDraft draft;
  const std::string zero("a\0b", 3), long_name(256, 'x');
  for (const std::string& name : {std::string(), std::string("."), std::string(".."), std::string("a/b"),
                                  std::string("../x"), std::string("/etc"), zero, long_name, std::string("good")})
    ASSERT_TRUE(draft.add({name, false, 1, 0}));
  const RemoteListing listing = std::move(draft).finish();
  EXPECT_EQ(names(listing), std::vector<std::string>{"good"});
  EXPECT_EQ(listing.left_out.size(), 8u);
}

TEST(ListingDraft, ANameComesOnce) {
  ListingDraft draft;
  ASSERT_TRUE(draft.add({"a", false, 1, 0}) && draft.add({"b", false, 2, 0}) && draft.add({"a", true, 3, 0}));
  const RemoteListing listing = std::move(draft).finish();
  EXPECT_EQ(names(listing), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(listing.entries[0].size, 1u);
  EXPECT_EQ(listing.left_out, std::vector<std::string>{"\"a\" is left out: it is listed twice"});

  ListingDraft copies(ListingDraft::Twice::copy);
  ASSERT_TRUE(copies.add({"a", false, 1, 0}) && copies.add({"a", false, 1, 5}));
  const RemoteListing merged = std::move(copies).finish();
  EXPECT_EQ(merged.entries.size(), 1u);
  EXPECT_TRUE(merged.left_out.empty());
}

TEST(ListingDraft, NamesAndLinesAreBounded) {
  ListingDraft odd;
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(odd.add({"x/" + std::to_string(i), false, 1, 0}));
  const RemoteListing listing = std::move(odd).finish();
  EXPECT_EQ(listing.left_out.size(), 21u);
  EXPECT_EQ(listing.left_out.back(), "980 more names are left out");

  ListingDraft many;
  Result<> added;
  for (int i = 0; added && i < 1'000'000; ++i) added = many.add({std::to_string(i), false, 1, 0});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace tfile
