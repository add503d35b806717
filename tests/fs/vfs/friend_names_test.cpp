// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/friend_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_directory.h"

namespace tfilefs {
namespace {

TEST(FriendNames, AliasSourceAndKey) {
  const struct {
    const char *text, *source, *major, *minor;
  } cases[] = {
      {"a=f.root", "f.root", "", ""},
      {"a=f.root:Events", "f.root:Events", "", ""},
      {"a=f.root:Events@run,event", "f.root:Events", "run", "event"},
      {"a=f*.root@run", "f*.root", "run", ""},
      {"a=@list.txt", "@list.txt", "", ""},
      {"a=@list.txt@run,0", "@list.txt", "run", "0"},
      {"a=root://user@host//f.root", "root://user@host//f.root", "", ""},
      {"a=root://user@host//f.root@run,event", "root://user@host//f.root", "run", "event"},
      {"a=data@2018.root", "data@2018.root", "", ""},
      {"a=data@*.root", "data@*.root", "", ""},
      {"a=x=y.root@k", "x=y.root", "k", ""},
  };
  for (const auto& each : cases) {
    const auto named = parse_friend(each.text);
    ASSERT_TRUE(named) << each.text;
    EXPECT_EQ(named->alias, "a") << each.text;
    EXPECT_EQ(named->source, each.source) << each.text;
    EXPECT_EQ(named->key ? named->key->major : "", each.major) << each.text;
    EXPECT_EQ(named->key ? named->key->minor : "", each.minor) << each.text;
  }
  for (const char* text : {"", "a", "a=", "=f.root", ".a=f.root", "a/b=f.root"})
    EXPECT_FALSE(parse_friend(text)) << text;
}

TEST(FriendNames, WhatIsPartOfAFilesNameIsNoKey) {
  const TemporaryDirectory directory;
  const std::string file = directory.path() / "data@run";
  std::ofstream(file) << "x";
  EXPECT_EQ(parse_friend("a=" + file)->source, file);
  EXPECT_EQ(parse_friend("a=" + file + "@run")->source, file);
}

}  // namespace
}  // namespace tfilefs
