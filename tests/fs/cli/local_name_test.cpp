// SPDX-License-Identifier: Apache-2.0
#include "cli/local_name.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tfilefs {
namespace {

TEST(LocalName, UrlsOfFilesAndTheHomeAreUnderstood) {
  EXPECT_EQ(local_name("file:///data/a%20b.root"), "/data/a b.root");
  EXPECT_EQ(local_name("file://localhost/data/x.root"), "/data/x.root");
  EXPECT_EQ(local_name("file:///data/100%"), "/data/100%");
  EXPECT_EQ(local_name("~/x.root"), std::string(std::getenv("HOME")) + "/x.root");
  for (const char* same : {"x.root", "file://elsewhere/x.root", "~other/x.root", "-o", "https://h/x.root", ""})
    EXPECT_EQ(local_name(same), same);
}

}  // namespace
}  // namespace tfilefs
