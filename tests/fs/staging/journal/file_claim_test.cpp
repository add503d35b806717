// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/file_claim.h"

#include <gtest/gtest.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>

#include "fs/staging/journal_directory.h"

namespace tfilefs {
namespace {

// The file f.root, and g.root, which is the same file.
class FileClaims : public JournalDirectory {
 protected:
  void SetUp() override {
    JournalDirectory::SetUp();
    std::ofstream(path_ / "f.root") << "root";
    std::filesystem::create_hard_link(path_ / "f.root", path_ / "g.root");
    if (::setxattr((path_ / "f.root").c_str(), "user.tried", "", 0, 0) != 0) GTEST_SKIP() << "no attributes here";
  }
  FilePlace place(const std::string& name) const {
    FilePlace place;
    place.directory = Descriptor(::dup(directory_.get()));
    place.name = name;
    place.shown = path_ / name;
    return place;
  }
  std::string real_path(const std::string& name) const { return std::filesystem::canonical(path_) / name; }
};

TEST_F(FileClaims, AFileIsClaimedOnceByWhateverName) {
  {
    const auto first = FileClaim::take(place("f.root"));
    ASSERT_TRUE(first) << first.error().text;
    EXPECT_TRUE(first->is_of(place("g.root")));
    for (const char* name : {"f.root", "g.root"}) {
      const auto second = FileClaim::take(place(name));
      ASSERT_FALSE(second);
      EXPECT_EQ(second.error().kind, ErrorKind::busy);
      EXPECT_EQ(second.error().text, "another process is writing this file");
    }
    // Closing another descriptor of the file keeps it.
    Descriptor(::openat(directory_.get(), "f.root", O_RDWR | O_CLOEXEC));
    EXPECT_FALSE(FileClaim::take(place("g.root")));
  }
  EXPECT_TRUE(FileClaim::take(place("g.root")));
}

TEST_F(FileClaims, WhoeverWritesByAnotherNameIsNamed) {
  auto first = FileClaim::take(place("f.root"));
  ASSERT_TRUE(first);
  const auto journal = create();
  ASSERT_TRUE(journal);
  ASSERT_TRUE(first->note_name(place("f.root")));
  const std::string who = "process " + std::to_string(::getpid()) + " is writing this file";
  EXPECT_EQ(FileClaim::take(place("f.root")).error().text, who);
  EXPECT_EQ(FileClaim::take(place("g.root")).error().text, who + " under another of its names, " + real_path("f.root"));
}

TEST_F(FileClaims, AJournalThatWasLeftIsFoundByTheOtherName) {
  {
    auto first = FileClaim::take(place("f.root"));
    ASSERT_TRUE(first && first->note_name(place("f.root")));
    ASSERT_TRUE(create());
  }
  EXPECT_FALSE(other_name_with_journal(place("f.root")));
  const auto other = other_name_with_journal(place("g.root"));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->shown, real_path("f.root"));
  {
    auto second = FileClaim::take(place("g.root"));
    ASSERT_TRUE(second);
    const auto noted = second->note_name(place("g.root"));
    ASSERT_FALSE(noted);
    EXPECT_EQ(noted.error().kind, ErrorKind::busy);
    EXPECT_NE(noted.error().text.find("`tfilefs recover " + real_path("f.root") + "`"), std::string::npos);
  }
  std::filesystem::remove(file());
  EXPECT_FALSE(other_name_with_journal(place("g.root")));
  auto second = FileClaim::take(place("g.root"));
  EXPECT_TRUE(second && second->note_name(place("g.root")));
}

TEST_F(FileClaims, AFileWithOneNameNotesNothing) {
  std::filesystem::remove(path_ / "g.root");
  auto claim = FileClaim::take(place("f.root"));
  ASSERT_TRUE(claim && claim->note_name(place("f.root")));
  char text[16];
  EXPECT_EQ(::getxattr((path_ / "f.root").c_str(), "user.tfilefs.journal", text, sizeof text), -1);
}

// Anybody who may write the file can write the attribute.
TEST_F(FileClaims, AnAttributeIsNotBelieved) {
  ASSERT_TRUE(create());
  std::ofstream(path_ / "other.root") << "root";
  std::ofstream(path_ / journal_name("other.root")) << "journal";
  const std::string with_zero("/tmp\0/f.root", 12);
  for (const std::string& path : {real_path("other.root"), real_path("none.root"), std::string("f.root"),
                                  std::string("/"), with_zero, std::string(5000, '/')}) {
    (void)::setxattr((path_ / "g.root").c_str(), "user.tfilefs.journal", path.data(), path.size(), 0);
    EXPECT_FALSE(other_name_with_journal(place("g.root"))) << path;
  }
}

}  // namespace
}  // namespace tfilefs
