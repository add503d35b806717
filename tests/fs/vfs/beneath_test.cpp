// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_directory.h"

namespace tfilefs {
namespace {

constexpr uid_t kReader = 23002;

// A tree of files owned by the user of the test; the caller is another user.
class OpenByBits : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(top_ + "/closed/deep");
    std::filesystem::create_directory(top_ + "/open");
    std::ofstream(top_ + "/closed/deep/file") << "x";
    std::ofstream(top_ + "/open/file") << "x";
    std::ofstream(top_ + "/open/secret") << "x";
    ::chmod(top_.c_str(), 0755);
    ::chmod((top_ + "/open").c_str(), 0755);
    ::chmod((top_ + "/closed").c_str(), 0700);
    ::chmod((top_ + "/open/file").c_str(), 0644);
    ::chmod((top_ + "/open/secret").c_str(), 0640);
    root_ = Descriptor(::open(top_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  // 0, or the errno.
  int try_open(const std::string& path, int flags = O_RDONLY, bool links = true) {
    return open_by_bits(caller_, root_.get(), top_, path, flags | O_CLOEXEC, links) ? 0 : errno;
  }
  void link(const std::string& target, const std::string& at) {
    std::filesystem::create_symlink(target, top_ + "/" + at);
  }

  Caller caller_{kReader, kReader, {}};
  const TemporaryDirectory temporary_;
  const std::string top_ = temporary_.path().string();
  Descriptor root_;
};

TEST_F(OpenByBits, EachDirectoryOnTheWayMustLetIn) {
  EXPECT_EQ(try_open("open/file"), 0);
  EXPECT_EQ(try_open("closed/deep/file"), EACCES);
  EXPECT_EQ(try_open("closed/deep", O_PATH), EACCES);
  EXPECT_EQ(try_open("closed", O_PATH), 0);
  EXPECT_EQ(try_open("closed/.", O_PATH), EACCES);
  EXPECT_EQ(try_open("closed", O_RDONLY | O_DIRECTORY), EACCES);
  EXPECT_EQ(try_open("open/nothing"), ENOENT);
  EXPECT_EQ(try_open("open/file/below"), ENOTDIR);
}

TEST_F(OpenByBits, TheFileItselfMustLetIn) {
  EXPECT_EQ(try_open("open/secret"), EACCES);
  EXPECT_EQ(try_open("open/secret", O_PATH), 0);
  EXPECT_EQ(try_open("open/file", O_RDWR), EACCES);
  struct stat status {};
  ASSERT_EQ(::stat((top_ + "/open/secret").c_str(), &status), 0);
  caller_.groups = {4, status.st_gid};
  EXPECT_EQ(try_open("open/secret"), 0);
}

TEST_F(OpenByBits, LinksAreFollowedWithinAndWithTheCallersRights) {
  link("open/file", "relative");
  link("relative", "chain");
  link(top_ + "/open/file", "absolute");
  link("closed/deep/file", "to_closed");
  link("../../open/file", "open/over_the_top");
  link("/etc/hostname", "outside");
  link("round", "round");
  for (const char* name : {"relative", "chain", "absolute"}) EXPECT_EQ(try_open(name), 0) << name;
  EXPECT_EQ(try_open("to_closed"), EACCES);
  EXPECT_EQ(try_open("open/over_the_top"), EXDEV);
  EXPECT_EQ(try_open("open/../../etc"), EXDEV);
  EXPECT_EQ(try_open("outside"), EXDEV);
  EXPECT_EQ(try_open("round"), ELOOP);
  EXPECT_EQ(try_open("relative", O_RDONLY, false), ELOOP);
  EXPECT_EQ(try_open("relative", O_PATH, false), 0);
}

TEST(BitsAllow, TheFirstClassThatFitsCounts) {
  const Caller owner{1, 1, {}}, member{2, 2, {7}}, other{3, 3, {}};
  EXPECT_FALSE(bits_allow(owner, 0077, 1, 7, R_OK));
  EXPECT_TRUE(bits_allow(owner, 0700, 1, 7, R_OK | W_OK | X_OK));
  EXPECT_FALSE(bits_allow(member, 0707, 1, 7, R_OK));
  EXPECT_TRUE(bits_allow(member, 0040, 1, 7, R_OK));
  EXPECT_FALSE(bits_allow(member, 0040, 1, 7, R_OK | W_OK));
  EXPECT_TRUE(bits_allow(other, 0004, 1, 7, R_OK));
}

}  // namespace
}  // namespace tfilefs
