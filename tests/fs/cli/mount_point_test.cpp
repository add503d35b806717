// SPDX-License-Identifier: Apache-2.0
#include "cli/mount_point.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace tfilefs {
namespace {

class MountPoints : public testing::Test {
 protected:
  MountPoints() : path_(testing::TempDir() + "mount_point." + std::to_string(::getpid())) {
    std::filesystem::create_directory(path_);
  }
  ~MountPoints() override { std::filesystem::remove(path_); }
  const std::string path_;
};

TEST_F(MountPoints, AHoldIsOfTheDirectoryThatWasThere) {
  const PlaceHold hold(path_);
  EXPECT_TRUE(hold.is_still_at(path_));
  std::filesystem::rename(path_, path_ + ".other");
  EXPECT_FALSE(hold.is_still_at(path_));
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(hold.is_still_at(path_)) << "another one";
  std::filesystem::remove(path_ + ".other");
}

// A mount that ended has removed what this one was about to hold.
TEST_F(MountPoints, ThatHaveGoneAreNotHeld) {
  std::filesystem::remove(path_);
  const PlaceHold hold(path_);
  EXPECT_FALSE(hold.is_still_at(path_));
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(hold.is_still_at(path_)) << "of which nothing is held";
}

}  // namespace
}  // namespace tfilefs
