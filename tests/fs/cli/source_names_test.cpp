// SPDX-License-Identifier: Apache-2.0
#include "cli/source_names.h"

#include <gtest/gtest.h>

#include <fstream>

#include "temporary_directory.h"

namespace tfilefs {
namespace {

std::pair<std::string, std::string> parts(const std::string& path) {
  const SourcePath split = split_source(path);
  return {split.source, split.inside};
}
using Parts = std::pair<std::string, std::string>;

TEST(SplitSource, TakesTheLongestNameOfAFile) {
  const TemporaryDirectory directory;
  for (const char* name : {"F.root", "F.root.1", "a:b", "plain"})
    std::ofstream(directory.path().string() + "/" + name) << "x";
  const std::string at = directory.path().string() + "/";
  EXPECT_EQ(parts(at + "F.root/T/x"), Parts(at + "F.root", "T/x"));
  EXPECT_EQ(parts(at + "F.root:T/x"), Parts(at + "F.root", "T/x"));
  EXPECT_EQ(parts(at + "F.root.1:T/x:y"), Parts(at + "F.root.1", "T/x:y"));
  EXPECT_EQ(parts(at + "a:b:T"), Parts(at + "a:b", "T"));
  EXPECT_EQ(parts(at + "plain/T"), Parts(at + "plain", "T"));
  EXPECT_EQ(parts(at + "plain/"), Parts(at + "plain", ""));
  EXPECT_EQ(parts(at + "a:b"), Parts(at + "a:b", ""));
  EXPECT_EQ(parts(directory.path().string()), Parts(directory.path().string(), ""));
}

TEST(SplitSource, TakesAPatternOfFiles) {
  const TemporaryDirectory directory;
  for (const char* name : {"run1.root.old", "run2.root.old"})
    std::ofstream(directory.path().string() + "/" + name) << "x";
  const std::string pattern = directory.path().string() + "/run*";
  EXPECT_EQ(parts(pattern), Parts(pattern, ""));
  EXPECT_EQ(parts(pattern + ":T/x*"), Parts(pattern, "T/x*"));
  EXPECT_EQ(parts(directory.path().string() + "/run{1,2}.root.old/T/*"),
            Parts(directory.path().string() + "/run{1,2}.root.old", "T/*"));
}

TEST(SplitSource, OfWhatIsNotThereARootFileIsMeant) {
  EXPECT_EQ(parts("missing.root/T/x"), Parts("missing.root", "T/x"));
  EXPECT_EQ(parts("missing.root:T"), Parts("missing.root", "T"));
  EXPECT_EQ(parts("missing/T"), Parts("missing/T", ""));
}

TEST(SplitSource, AsksNoServer) {
  EXPECT_EQ(parts("http://h:80/a/F.root/T/x"), Parts("http://h:80/a/F.root", "T/x"));
  EXPECT_EQ(parts("http://h:80/a/F.root:T?q=1:2"), Parts("http://h:80/a/F.root?q=1:2", "T"));
  EXPECT_EQ(parts("http://h/F.dat:T/x:y"), Parts("http://h/F.dat", "T/x:y"));
  EXPECT_EQ(parts("http://h/a:b.root"), Parts("http://h/a:b.root", ""));
  EXPECT_EQ(parts("http://h/a:F.root.1:T"), Parts("http://h/a:F.root.1", "T"));
  EXPECT_EQ(parts("http://h:80/data"), Parts("http://h:80/data", ""));
  EXPECT_EQ(parts("root://h:1094//data/F.root:T"), Parts("root://h:1094//data/F.root", "T"));
}

}  // namespace
}  // namespace tfilefs
