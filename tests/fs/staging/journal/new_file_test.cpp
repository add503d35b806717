// SPDX-License-Identifier: Apache-2.0
#include "staging/journal/new_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "fs/staging/journal_directory.h"

namespace tfilefs {
namespace {

namespace filesystem = std::filesystem;

// Files without names, and, where the file system has none, under random ones.
class NewFiles : public JournalDirectory, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    JournalDirectory::SetUp();
    faults::no_unnamed_files = !GetParam();
    place_.directory = Descriptor(::dup(directory_.get()));
    place_.name = "f.root";
    place_.shown = path_ / "f.root";
  }
  Result<NewFile> make(const std::string& text) {
    TRY(NewFile made, NewFile::make(place_, process_owner()));
    TRY_VOID(write_all(made.get(), 0, std::as_bytes(std::span(text))));
    return made;
  }
  void put(const std::string& name, const std::string& text) { std::ofstream(path_ / name) << text; }
  std::string text(const std::string& name) const {
    std::ifstream in(path_ / name);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& each : filesystem::directory_iterator(path_)) found.insert(each.path().filename());
    return found;
  }
  // The name that it has until it is published.
  std::string random_name() const {
    for (const std::string& name : names()) {
      if (name.ends_with(kTemporarySuffix)) return name;
    }
    return {};
  }

  FilePlace place_;
};

TEST_P(NewFiles, NothingIsLeftOfOneThatIsNotPublished) {
  {
    const auto made = make("new");
    ASSERT_TRUE(made) << made.error().text;
    EXPECT_EQ(names().size(), GetParam() ? 0u : 1u);
    std::ifstream in(made->path());
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "new");
  }
  EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_P(NewFiles, APublishedOneHasItsNameAlone) {
  auto made = make("new");
  ASSERT_TRUE(made);
  const auto done = made->publish(place_);
  ASSERT_TRUE(done) << done.error().text;
  const auto id = id_of(made->get());
  EXPECT_EQ(place_.id(), id);
  EXPECT_EQ(id_of(made->release().get()), id);
  EXPECT_EQ(names(), std::set<std::string>{"f.root"});
  EXPECT_EQ(text("f.root"), "new");
}

TEST_P(NewFiles, OneThatAnotherHasMadeMeanwhileStays) {
  {
    auto first = make("first"), second = make("second");
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(second->publish(place_));
    const auto done = first->publish(place_);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::stale);
  }
  EXPECT_EQ(text("f.root"), "second");
  EXPECT_EQ(names(), std::set<std::string>{"f.root"});
}

TEST_P(NewFiles, TheFormerOneIsReplacedAndNoOther) {
  put("f.root", "former");
  {
    auto first = make("first"), second = make("second");
    ASSERT_TRUE(first && second);
    EXPECT_EQ(text("f.root"), "former");
    ASSERT_TRUE(second->publish(place_));
    EXPECT_EQ(text("f.root"), "second");
    EXPECT_EQ(first->publish(place_).error().kind, ErrorKind::stale);
    auto third = make("third");
    ASSERT_TRUE(third);
    filesystem::remove(path_ / "f.root");
    EXPECT_EQ(third->publish(place_).error().kind, ErrorKind::stale);
  }
  EXPECT_EQ(names(), std::set<std::string>{});
}

TEST_P(NewFiles, NoOtherFileIsPublishedInItsPlace) {
  if (GetParam()) GTEST_SKIP() << "it has no name";
  {
    auto made = make("new");
    ASSERT_TRUE(made);
    const std::string name = random_name();
    filesystem::remove(path_ / name);
    put(name, "another's");
    EXPECT_FALSE(made->publish(place_));
  }
  EXPECT_EQ(names().size(), 1u);
  EXPECT_EQ(text(random_name()), "another's");
}

TEST_P(NewFiles, SwappedBackTheFormerOneHasItsNameAgain) {
  for (const bool has_former : {true, false}) {
    if (has_former) put("f.root", "former");
    {
      auto made = make("new");
      ASSERT_TRUE(made && made->make_ready(place_));
      EXPECT_EQ(names().size(), has_former ? 2u : 1u);
      ASSERT_TRUE(made->swap_in(place_));
      EXPECT_EQ(text("f.root"), "new");
      ASSERT_TRUE(made->swap_back(place_));
      EXPECT_EQ(text("f.root"), has_former ? "former" : "");
    }
    EXPECT_EQ(names().size(), has_former ? 1u : 0u);
    auto made = make("new");
    ASSERT_TRUE(made && made->make_ready(place_) && made->swap_in(place_));
    made->remove_former();
    EXPECT_EQ(text("f.root"), "new");
    EXPECT_EQ(names(), std::set<std::string>{"f.root"});
    filesystem::remove(path_ / "f.root");
  }
}

TEST_P(NewFiles, WhatAnotherHasPutThereIsNotSwapped) {
  put("f.root", "former");
  {
    auto made = make("new");
    ASSERT_TRUE(made && made->make_ready(place_));
    put("other", "another's");
    filesystem::rename(path_ / "other", path_ / "f.root");
    EXPECT_EQ(made->swap_in(place_).error().kind, ErrorKind::stale);
    EXPECT_EQ(made->swap_back(place_).error().kind, ErrorKind::stale);
  }
  EXPECT_EQ(text("f.root"), "another's");
  EXPECT_EQ(names(), std::set<std::string>{"f.root"});
}

TEST_P(NewFiles, OneThatLeavesCanBePutBack) {
  put("f.root", "former");
  LeavingFile leaving({Descriptor(::dup(directory_.get())), "f.root", path_ / "f.root"});
  ASSERT_TRUE(leaving.set_aside());
  EXPECT_EQ(text("f.root"), "");
  ASSERT_TRUE(leaving.put_back());
  EXPECT_EQ(text("f.root"), "former");
  ASSERT_TRUE(leaving.set_aside());
  put("other", "another's");  // before the former one goes, whose inode it might get
  leaving.remove();
  EXPECT_EQ(names(), std::set<std::string>{"other"});
  filesystem::rename(path_ / "other", path_ / "f.root");
  EXPECT_EQ(leaving.set_aside().error().kind, ErrorKind::stale);
  EXPECT_EQ(text("f.root"), "another's");
}

INSTANTIATE_TEST_SUITE_P(Ways, NewFiles, testing::Bool(),
                         [](const auto& each) { return each.param ? "WithoutName" : "WithRandomName"; });

}  // namespace
}  // namespace tfilefs
