// SPDX-License-Identifier: Apache-2.0
#include "vfs/names/expand_sources.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "temporary_directory.h"

namespace tfilefs {
namespace {

class ExpandSources : public ::testing::Test {
 protected:
  void make(const std::string& name) {
    std::filesystem::create_directories(std::filesystem::path(at(name)).parent_path());
    std::ofstream(at(name)) << "x";
  }
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }
  // What a pattern below the directory stands for, relative to it.
  std::vector<std::string> expanded(const std::string& pattern) const {
    const auto found = expand_sources(at(pattern));
    if (!found) return {found.error().text};
    std::vector<std::string> names;
    for (const std::string& path : *found) names.push_back(path.substr(at("").size()));
    return names;
  }

  const TemporaryDirectory directory_;
};

using Names = std::vector<std::string>;

TEST_F(ExpandSources, FilesComeInOrderOfTheirNames) {
  for (const char* name : {"run10.root", "run2.root", "run1.root", "other.txt"}) make(name);
  EXPECT_EQ(expanded("run*.root"), (Names{"run1.root", "run2.root", "run10.root"}));
  EXPECT_EQ(expanded("run{2,1}.root"), (Names{"run1.root", "run2.root"}));
  EXPECT_EQ(expanded("{run*,run1*}.root"), (Names{"run1.root", "run2.root", "run10.root"}));
  EXPECT_EQ(expanded("run?.root"), (Names{"run1.root", "run2.root"}));
}

TEST_F(ExpandSources, PatternsMayStandInSeveralNames) {
  for (const char* name : {"b/x1.root", "a/x2.root", "a/y.root"}) make(name);
  EXPECT_EQ(expanded("*/x[12].root"), (Names{"a/x2.root", "b/x1.root"}));
}

TEST_F(ExpandSources, OtherNamesStandForThemselves) {
  EXPECT_EQ(expanded("missing.root"), Names{"missing.root"});
  make("odd[1].root");
  EXPECT_EQ(expanded("odd[1].root"), Names{"odd[1].root"});
  const std::string url = "http://host/f.root?x=*";
  EXPECT_EQ(*expand_sources(url), Names{url});
}

TEST_F(ExpandSources, WhatMatchesNothingIsRefused) {
  const auto found = expand_sources(at("*.root"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::not_found);
  EXPECT_EQ(found.error().text, at("*.root") + ": no file matches");
  EXPECT_FALSE(expand_sources(at("none/*.root")));
}

}  // namespace
}  // namespace tfilefs
