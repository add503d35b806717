// SPDX-License-Identifier: Apache-2.0
#include "cli/tree_listing.h"

#include <gtest/gtest.h>

namespace tfilefs {
namespace {

TEST(TreeListing, ColumnsAreAsWideAsTheirLongestText) {
  const std::vector<TreeRow> rows{
      {.depth = 0, .name = "Events", .what = "TTree", .entries = "100 entries", .size = "1.2 MB", .title = "of a run"},
      {.depth = 0, .name = "tracker/", .what = "TDirectory"},
      {.depth = 1, .name = "h\xc3\xbc", .what = "TH1D", .size = "900 B"},
  };
  EXPECT_EQ(tree_text(rows),
            "Events    TTree       100 entries  1.2 MB  of a run\n"
            "tracker/  TDirectory\n"
            "  h\xc3\xbc      TH1D                      900 B\n");
}

TEST(TreeListing, WhatNothingHasIsNoColumn) {
  EXPECT_EQ(tree_text({{.name = "a.txt", .size = "3 B"}, {.name = "runs/"}}), "a.txt  3 B\nruns/\n");
  EXPECT_EQ(tree_text({}), "");
}

TEST(TreeListing, ColoursChangeNoWidth) {
  const std::vector<TreeRow> rows{{.depth = 1, .name = "d/", .is_directory = true, .what = "TDirectory"},
                                  {.depth = 1, .name = "long name", .what = "TH1D"}};
  EXPECT_EQ(tree_text(rows, true), "  \033[1;34md/\033[0m         TDirectory\n  long name  TH1D\n");
}

TEST(TreeListing, AttributesTellWhatARowShows) {
  ListedThing table{
      "T", {}, {{"user.tfilefs.class", "TTree"}, {"user.tfilefs.entries", "5"}, {"user.tfilefs.title", "a\x1b"}}};
  table.found.attributes.mode = S_IFDIR | 0555;
  const TreeRow row = row_of(table, 1);
  EXPECT_EQ(row.name + "|" + row.what + "|" + row.entries + "|" + row.title, "T|TTree|5 entries|a\\x1b");
  EXPECT_FALSE(table.is_key_directory());
  ListedThing directory{"d", table.found, {{"user.tfilefs.class", "TDirectoryFile"}}};
  EXPECT_TRUE(directory.is_key_directory());
  EXPECT_EQ(row_of(directory, 0).name, "d/");
}

}  // namespace
}  // namespace tfilefs
