// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/chain_names.h"

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
  for (const char* name : {"a:b", "dir.root/inner.root", "x.root", "#y.root", "p?#q.root", "no suffix"})
    std::ofstream(at(name)) << "x";
  const ChainName marked{at("p?#q.root"), ""}, tabled{at("p?#q.root"), "t"};
  EXPECT_EQ(parse_chain_name(at("p?#q.root")), marked);
  for (const char* name : {"p?#q.root?#t", "p?#q.root:t", "p?#q.root/t"})
    EXPECT_EQ(parse_chain_name(at(name)), tabled) << name;
  EXPECT_EQ(parse_chain_name(at("p?#q.root/d/t")).table, "d/t");
  EXPECT_EQ(parse_chain_name(at("no suffix/d:t")).table, "d:t");
  EXPECT_EQ(parse_chain_name(at("a:b")).file, at("a:b"));
  EXPECT_EQ(parse_chain_name(at("dir.root/inner.root")).file, at("dir.root/inner.root"));
  EXPECT_EQ(parse_chain_name(at("dir.root/inner.root:t")).table, "t");
  std::ofstream(at("list")) << "# comment\nx.root:t\n\n  #y.root\n" << at("a:b") << "\n";
  const auto listed = chain_names("@" + at("list"));
  ASSERT_TRUE(listed);
  EXPECT_EQ(*listed, (std::vector<ChainName>{{at("x.root"), "t"}, {at("a:b"), ""}}));
  const auto all = chain_names(directory.path().string());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 4u);
  EXPECT_EQ((*all)[0].file, at("#y.root"));
  std::ofstream(at("comments")) << "x.root # one\nx.root:t\t# two\np?#q.root\n*[xy].root # three\n";
  const auto commented = chain_names("@" + at("comments"));
  ASSERT_TRUE(commented);
  EXPECT_EQ(
      *commented,
      (std::vector<ChainName>{
          {at("x.root"), ""}, {at("x.root"), "t"}, {at("p?#q.root"), ""}, {at("#y.root"), ""}, {at("x.root"), ""}}));
  std::ofstream(at("loop")) << "@" << at("loop") << "\n";
  EXPECT_FALSE(chain_names("@" + at("loop")));
  EXPECT_FALSE(chain_names(at("none*.root")));
}

TEST(ChainNames, AnyDirectoriesMayComeTwice) {
  const TemporaryDirectory directory;
  const auto at = [&](const std::string& name) { return (directory.path() / name).string(); };
  std::filesystem::create_directories(at("a/b/skim/c"));
  std::filesystem::create_directories(at("skim"));
  for (const char* name : {"a/b/skim/c/x.root", "skim/y.root", "a/z.root"}) std::ofstream(at(name)) << "x";
  std::filesystem::create_directory_symlink(directory.path(), at("a/loop"));
  std::filesystem::create_directories(at("a[1]/deep"));
  std::ofstream(at("a[1]/deep/only.root")) << "x";
  EXPECT_EQ(*chain_names(at("**/only.root")), (std::vector<ChainName>{{at("a[1]/deep/only.root"), ""}}));
  EXPECT_EQ(*chain_names(at("**/deep/**/only.root")), (std::vector<ChainName>{{at("a[1]/deep/only.root"), ""}}));
  EXPECT_EQ(*chain_names(at("a[1]/**/o*.root")), (std::vector<ChainName>{{at("a[1]/deep/only.root"), ""}}));
  EXPECT_FALSE(chain_names(at("**/none.root")));
  for (const char* pattern : {"**/skim/**/*.root", "**/skim/**", "**/**/skim/**/**/[xy].root"}) {
    const auto found = chain_names(at(pattern));
    ASSERT_TRUE(found) << pattern;
    EXPECT_EQ(*found, (std::vector<ChainName>{{at("a/b/skim/c/x.root"), ""}, {at("skim/y.root"), ""}})) << pattern;
  }
}

}  // namespace
}  // namespace tfilefs
