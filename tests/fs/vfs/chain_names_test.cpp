// SPDX-License-Identifier: Apache-2.0
#include "vfs/chain_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_directory.h"

namespace tfilefs {
namespace {

TEST(ChainNames, TablesStandBehindFiles) {
  const struct {
    const char *name, *file, *table;
  } cases[] = {
      {"f.root", "f.root", ""},
      {"f.root:Events", "f.root", "Events"},
      {"f.root:dir/Events", "f.root", "dir/Events"},
      {"f.root?#Events", "f.root", "Events"},
      {"f.root/Events", "f.root", "Events"},
      {"data*.root:Events", "data*.root", "Events"},
      {"no suffix:Events", "no suffix", "Events"},
      {"root://host:1094//data/f.root", "root://host:1094//data/f.root", ""},
      {"root://host:1094//data/f.root:Events", "root://host:1094//data/f.root", "Events"},
      {"root://host:1094//data/f.root/Events", "root://host:1094//data/f.root", "Events"},
      {"http://host:80/a:1.root", "http://host:80/a:1.root", ""},
      {"http://host:80/a:1.root:Events", "http://host:80/a:1.root", "Events"},
      {"f.root:", "f.root:", ""},
  };
  for (const auto& each : cases) {
    const ChainName name = parse_chain_name(each.name);
    EXPECT_EQ(name.file, each.file) << each.name;
    EXPECT_EQ(name.table, each.table) << each.name;
  }
}

TEST(ChainNames, WhatIsPartOfAFilesNameIsNoSeparator) {
  const TemporaryDirectory directory;
  const auto at = [&](const std::string& name) { return (directory.path() / name).string(); };
  std::filesystem::create_directories(at("dir.root"));
  for (const char* name : {"a:b", "dir.root/inner.root", "x.root", "#y.root"}) std::ofstream(at(name)) << "x";
  EXPECT_EQ(parse_chain_name(at("a:b")).file, at("a:b"));
  EXPECT_EQ(parse_chain_name(at("dir.root/inner.root")).file, at("dir.root/inner.root"));
  EXPECT_EQ(parse_chain_name(at("dir.root/inner.root:t")).table, "t");
  std::ofstream(at("list")) << "# comment\nx.root:t\n\n  #y.root\n" << at("a:b") << "\n";
  const auto listed = chain_names("@" + at("list"));
  ASSERT_TRUE(listed);
  EXPECT_EQ(*listed, (std::vector<ChainName>{{at("x.root"), "t"}, {at("a:b"), ""}}));
  const auto all = chain_names(directory.path().string());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].file, at("#y.root"));
  std::ofstream(at("loop")) << "@" << at("loop") << "\n";
  EXPECT_FALSE(chain_names("@" + at("loop")));
  EXPECT_FALSE(chain_names(at("none*.root")));
}

}  // namespace
}  // namespace tfilefs
