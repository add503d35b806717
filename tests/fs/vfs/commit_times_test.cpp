// SPDX-License-Identifier: Apache-2.0
// When what is written is committed: by a clock that stands until it is moved.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fs/staging/faults.h"
#include "fs/standing_clock.h"
#include "fs/vfs/written_directory.h"
#include "tfile/file.h"
#include "tfile/table.h"

namespace tfilefs {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kInstant{1}, kNamesPause{1000}, kFailurePause{1000}, kClosedSoon{1000};

class CommitTimes : public testing::Test, protected WrittenDirectory {
 protected:
  CommitTimes() {
    options_.clock = &clock_;
    mount_with(milliseconds(5000));
  }
  ~CommitTimes() override {
    faults::reset();
    fs_.reset();
  }
  void mount_with(milliseconds commit) {
    commit_ = commit;
    options_.write->commit = commit;
    fs_.reset();
    mount();
  }

  void pass(milliseconds time) { clock_.pass(time); }
  // Keys of the file as it lies there.
  std::set<std::string> keys(const std::string& file = "f.root") const {
    std::set<std::string> names;
    auto source = tfile::open_source((path_ / file).string());
    if (!source) return names;
    const auto opened = tfile::File::open(*std::move(source));
    EXPECT_TRUE(opened);
    for (const tfile::KeyInfo& key : (*opened)->root()->keys) names.emplace(key.name);
    return names;
  }
  std::int64_t entries() const {
    const auto file = tfile::File::open(*tfile::open_source((path_ / "f.root").string()));
    EXPECT_TRUE(file);
    for (const tfile::KeyInfo& key : (*file)->root()->keys) {
      if (key.name == "T") return (*(*file)->table(key))->entries;
    }
    return 0;
  }
  bool is_committed() const { return keys().contains("T"); }
  void remove(const std::string& in, const std::string& name, bool directory) {
    auto removed = ask<void>([&](auto reply) { fs_->remove(id_of(in), name, directory, std::move(reply)); });
    EXPECT_TRUE(removed.get()) << name;
  }
  // Name by name, as rm(1) does, with a pause after each.
  void remove_all(const std::string& path, milliseconds pause) {
    struct Names final : DirectorySink {
      bool add(const std::string& name, InodeId, const Attributes& attributes, std::uint64_t) override {
        if (name != "." && name != "..") all.emplace_back(name, S_ISDIR(attributes.mode));
        return true;
      }
      std::vector<std::pair<std::string, bool>> all;
    };
    const auto names = std::make_shared<Names>();
    const HandleId handle =
        ask<HandleId>([&](auto reply) { fs_->opendir(id_of(path), std::move(reply)); }).get().value();
    EXPECT_TRUE(ask<void>([&](auto reply) { fs_->readdir(handle, 0, false, names, std::move(reply)); }).get());
    fs_->release(handle);
    EXPECT_FALSE(names->all.empty());
    for (const auto& [name, directory] : names->all) {
      if (directory) remove_all(path + "/" + name, pause);
      remove(path, name, directory);
      pass(pause);
      EXPECT_FALSE(fs_->find_path(path + "/" + name)) << name;
    }
  }
  HandleId create_in(const std::string& directory, const std::string& name, const std::string& bytes) {
    auto made = ask<FileSystem::Created>([&](auto reply) {
      fs_->create(id_of(directory), name, {S_IFREG | 0644, ::geteuid(), ::getegid()}, true, std::move(reply));
    });
    const HandleId handle = made.get().value().opened.handle;
    EXPECT_TRUE(write(handle, 0, bytes).get());
    return handle;
  }
  void flush(HandleId handle) {
    EXPECT_TRUE(ask<void>([&](auto reply) { fs_->flush(handle, std::move(reply)); }).get());
  }
  static bool is_ready(const std::future<Result<void>>& answer) {
    return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  StandingClock clock_;
  milliseconds commit_{};
};

const std::string kTenItems(40, 'i');

TEST_F(CommitTimes, AreThatManySecondsAfterTheLastChange) {
  make_column("f.root", "a.i4", kTenItems);
  pass(commit_ - kInstant);
  make_column("f.root", "b.i4", kTenItems);
  pass(commit_ - kInstant);
  EXPECT_FALSE(is_committed());
  pass(commit_);
  EXPECT_TRUE(is_committed());
}

TEST_F(CommitTimes, OfOneWriteAreExact) {
  make_column("f.root", "a.i4", kTenItems);
  pass(commit_ - kInstant);
  EXPECT_FALSE(is_committed());
  pass(kInstant);
  EXPECT_TRUE(is_committed());
  clock_.pass(std::chrono::hours(24));
  EXPECT_EQ(clock_.waiting(), 0U) << "a thread waits where nothing is staged";
}

TEST_F(CommitTimes, CutNothingInTwoThatIsWrittenSlower) {
  for (const milliseconds commit : {milliseconds(0), milliseconds(5000)}) {
    mount_with(commit);
    const std::string file = "f" + std::to_string(commit.count()) + ".root";
    const HandleId handle = create(file, "a.i4");
    make_column(file, "b.i4", kTenItems + kTenItems);
    for (std::size_t at = 0; at < 2 * kTenItems.size(); at += 4) {
      EXPECT_TRUE(write(handle, at, "slow").get());
      pass(3 * commit + kFailurePause);
      EXPECT_TRUE(keys(file).empty()) << "of " << at + 4 << " bytes";
    }
    close(handle);
    pass(2 * std::max(commit, milliseconds(10)));
    EXPECT_TRUE(keys(file).contains("T"));
  }
}

// Files that are open and have no quiet moment are committed cluster by cluster, if they grow together.
TEST_F(CommitTimes, AreOfClustersWhileColumnsGrow) {
  constexpr milliseconds kPause{600};
  options_.write->cluster_bytes = 16 << 10;
  mount_with(milliseconds(1000));
  const HandleId handles[] = {create("f.root", "x.i4"), create("f.root", "y.i4")};
  std::mt19937 random;
  std::string piece(100'000, 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(is_committed(), i == 2) << "after " << i << " pieces";
    std::ranges::generate(piece, [&] { return static_cast<char>(random()); });
    for (const HandleId handle : handles) EXPECT_TRUE(write(handle, i * piece.size(), piece).get());
    pass(kPause);
  }
  const std::int64_t early = entries();
  EXPECT_GT(early, 0);
  EXPECT_LT(early, 75'000);
  for (const HandleId handle : handles) close(handle);
  pass(2 * commit_);
  EXPECT_EQ(entries(), 75'000);
}

// What removes a directory name by name takes a moment for each: the key goes when all of them have gone.
TEST_F(CommitTimes, OfNamesThatAreRemovedOneByOneAreOne) {
  mount_with(milliseconds(0));
  make_column("f.root", "a.i4", kTenItems);
  make_directory("f.root", "h");
  const double edges[] = {0, 1, 2}, values[] = {3, 4};
  const auto bytes = [](const auto& numbers) {
    return std::string(reinterpret_cast<const char*>(numbers), sizeof numbers);
  };
  close(create_in("f.root/h", "xedges.f8", bytes(edges)));
  close(create_in("f.root/h", "values.f8", bytes(values)));
  pass(kNamesPause - kInstant);
  EXPECT_FALSE(keys().contains("h")) << "more files of it may come";
  pass(kNamesPause);
  ASSERT_TRUE(keys().contains("h"));
  remove_all("f.root/h", kNamesPause - kInstant);
  EXPECT_TRUE(keys().contains("h"));
  pass(kNamesPause);
  EXPECT_TRUE(fs_->find_path("f.root/h/values.f8")) << "nobody has removed the directory";
  remove_all("f.root/h", kNamesPause - kInstant);
  EXPECT_TRUE(keys().contains("h"));
  remove("f.root", "h", true);
  EXPECT_FALSE(fs_->find_path("f.root/h"));
  pass(kNamesPause);
  EXPECT_FALSE(keys().contains("h"));
  EXPECT_TRUE(is_committed());
}

TEST_F(CommitTimes, BehindAFailureAreASecondLater) {
  mount_with(milliseconds(0));
  const HandleId handle = create("f.root", "a.i4");
  EXPECT_TRUE(write(handle, 0, kTenItems).get());
  EXPECT_TRUE(ask<void>([&](auto reply) { fs_->sync(handle, std::move(reply)); }).get());
  faults::bytes_left = 0;
  close(handle);
  pass(milliseconds(20));
  EXPECT_FALSE(is_committed());
  EXPECT_NE(fs_->errors().text().find("f.root"), std::string::npos) << "it has not failed";
  faults::reset();
  pass(kFailurePause - milliseconds(20));
  EXPECT_FALSE(is_committed()) << "a full disk is asked all the time";
  pass(milliseconds(20));
  EXPECT_TRUE(is_committed());
}

// The kernel tells of the last close of a file a moment after close(2).
TEST_F(CommitTimes, ThatAreAskedForWaitForFilesThatAreBeingClosed) {
  const HandleId handle = create("f.root", "a.i4");
  EXPECT_TRUE(write(handle, 0, kTenItems).get());
  flush(handle);
  clock_.come_to_rest();
  const std::size_t before = clock_.waiting();
  auto done = begin_commit("f.root");
  clock_.await_waiting(before + 1);
  clock_.move(kClosedSoon - kInstant);
  EXPECT_FALSE(is_ready(done));
  fs_->release(handle);
  EXPECT_TRUE(done.get());
  EXPECT_TRUE(is_committed());
}

TEST_F(CommitTimes, ThatAreAskedForWaitNoLongerThanASecond) {
  const HandleId handle = create("f.root", "a.i4");
  EXPECT_TRUE(write(handle, 0, kTenItems).get());
  flush(handle);
  clock_.come_to_rest();
  const std::size_t before = clock_.waiting();
  auto done = begin_commit("f.root");
  clock_.await_waiting(before + 1);
  clock_.move(kClosedSoon);
  EXPECT_TRUE(done.get()) << "for a program that flushes and goes on writing";
  EXPECT_FALSE(is_committed());
  fs_->release(handle);
}

}  // namespace
}  // namespace tfilefs
