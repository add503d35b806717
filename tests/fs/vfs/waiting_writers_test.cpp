// SPDX-License-Identifier: Apache-2.0
// Writers that wait, for memory or for a commit, must not delay other requests.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "fs/staging/faults.h"
#include "fs/vfs/written_directory.h"

namespace tfilefs {
namespace {

namespace stdfs = std::filesystem;

constexpr std::uint64_t kMiB = 1 << 20;

// With little memory: 8 MiB for staged bytes.
class WaitingWriters : public testing::TestWithParam<std::size_t>, protected WrittenDirectory {
 protected:
  WaitingWriters() : WrittenDirectory({.memory = 16 * kMiB, .threads = 2}) {}
  void SetUp() override {
    faults::reset();
    make_column("read.root", "x.i4", kRead);
    ASSERT_TRUE(commit("read.root"));
  }
  void TearDown() override {
    faults::reset();
    fs_.reset();
  }

  // Another program's read of uncached data. If it gets no answer, the test has failed; releasing the writes then lets
  // it end.
  void read_the_other_file() {
    auto reading = std::async(std::launch::async, [this]() -> Result<std::string> {
      TRY(const auto found, fs_->find_path("read.root/T/x.i4"));
      TRY(const auto opened, ask<FileSystem::Opened>([&](auto reply) { fs_->open(found.id, std::move(reply)); }).get());
      auto slices = ask<Slices>([&](auto reply) { fs_->read(opened.handle, 0, kRead.size(), std::move(reply)); }).get();
      fs_->release(opened.handle);
      if (!slices) return tl::unexpected(slices.error());
      std::string bytes(slices->size(), 0);
      copy_slices(*slices, reinterpret_cast<std::byte*>(bytes.data()));
      return bytes;
    });
    const bool is_answered = reading.wait_for(std::chrono::minutes(1)) == std::future_status::ready;
    EXPECT_TRUE(is_answered) << "who reads waits for those who write";
    if (!is_answered) faults::release_writes();
    EXPECT_EQ(reading.get().value_or("failed"), kRead);
  }

  const std::string kRead = std::string(400'000, 'r');
};

TEST_P(WaitingWriters, ForMemory) {
  std::vector<HandleId> handles;
  const std::string block(kMiB, 'w');
  const std::uint64_t blocks = 8 / GetParam();
  for (std::size_t i = 0; i < GetParam(); ++i) handles.push_back(create("w.root", "c" + std::to_string(i) + ".i4"));
  for (std::uint64_t n = 0; n < blocks; ++n) {
    for (const HandleId handle : handles) ASSERT_TRUE(write(handle, n * kMiB, block).get());
  }
  faults::hold_writes();
  std::vector<std::future<Result<std::size_t>>> writes;
  for (const HandleId handle : handles) {
    // One more may fit.
    std::uint64_t at = blocks * kMiB;
    auto written = write(handle, at, block);
    for (; written.wait_for(std::chrono::seconds(0)) == std::future_status::ready; written = write(handle, at, block)) {
      ASSERT_EQ(written.get().value_or(0), kMiB);
      at += kMiB;
    }
    writes.push_back(std::move(written));
  }
  faults::wait_for_held_write();
  read_the_other_file();
  faults::release_writes();
  for (auto& written : writes) EXPECT_EQ(written.get().value_or(0), kMiB);
  for (const HandleId handle : handles) close(handle);
}

// While a commit reads the bytes of a file, they are neither overwritten nor cut off.
TEST_P(WaitingWriters, ForACommit) {
  const auto name = [](std::size_t i) { return "c" + std::to_string(i) + ".i4"; };
  for (std::size_t i = 0; i < GetParam(); ++i) make_column("w.root", name(i), std::string(40'000, 'w'));
  faults::hold_writes();
  auto committed = begin_commit("w.root");
  faults::wait_for_held_write();
  std::vector<std::future<Result<std::size_t>>> writes;
  std::vector<std::future<Result<Attributes>>> cuts;
  std::vector<HandleId> handles;
  for (std::size_t i = 0; i < GetParam(); ++i) {
    const InodeId id = id_of("w.root/T/" + name(i));
    handles.push_back(
        ask<FileSystem::Opened>([&](auto reply) { fs_->open_to_write(id, std::move(reply)); }).get()->handle);
    writes.push_back(write(handles.back(), 0, "late"));
    AttributeChange cut;
    cut.size = 4;
    cuts.push_back(ask<Attributes>([&](auto reply) { fs_->change(id, cut, std::move(reply)); }));
  }
  read_the_other_file();
  faults::release_writes();
  EXPECT_TRUE(committed.get());
  for (auto& written : writes) EXPECT_EQ(written.get().error().system_errno, EPERM);
  for (auto& cut : cuts) EXPECT_EQ(cut.get().error().system_errno, EPERM);
  for (const HandleId handle : handles) close(handle);
}

// Its request was given up, and the mount has ended meanwhile: it is made whole, or not at all.
TEST_P(WaitingWriters, AChangeThatTheEndOvertakes) {
  faults::hold_writes();
  auto made = std::async(std::launch::async, [this] {
    return ask<FileSystem::Found>([&](auto reply) {
             fs_->make_directory(id_of(""), "late.root", {S_IFDIR | 0755, ::geteuid(), ::getegid()}, std::move(reply));
           })
        .get();
  });
  faults::wait_for_held_write();
  auto ended = std::async(std::launch::async, [this] { return fs_->end(); });
  ended.wait_for(std::chrono::milliseconds(100));  // so that it is under way
  faults::release_writes();
  const bool is_made = made.get().has_value();
  EXPECT_EQ(ended.get().size(), 0);
  fs_.reset();
  EXPECT_EQ(stdfs::exists(path_ / "late.root"), is_made);
}

// The last answer has reached its program, but its request still has the handle when the mount ends.
TEST_P(WaitingWriters, AnAnsweredRequestKeepsNothingFromTheEnd) {
  const HandleId handle = create("w.root", "x.i4");
  std::promise<void> answered, ended;
  auto writing = std::async(std::launch::async, [&] {
    const std::string item(4, 'w');
    fs_->write(handle, 0, false, std::as_bytes(std::span(item)), Reply<std::size_t>([&](Result<std::size_t>) {
                 answered.set_value();
                 ended.get_future().wait();
               }));
  });
  answered.get_future().wait();
  EXPECT_EQ(fs_->end().size(), 0);
  ended.set_value();
  writing.get();
  EXPECT_TRUE(stdfs::exists(path_ / "w.root"));
  EXPECT_FALSE(stdfs::exists(path_ / "w.root.tfilefs-journal"));
}

INSTANTIATE_TEST_SUITE_P(Four, WaitingWriters, testing::Values(4u));
INSTANTIATE_TEST_SUITE_P(Eight, WaitingWriters, testing::Values(8u));

}  // namespace
}  // namespace tfilefs
