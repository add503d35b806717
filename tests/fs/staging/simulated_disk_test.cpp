// SPDX-License-Identifier: Apache-2.0
#include "fs/staging/simulated_disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "staging/journal/file_place.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

class Disks : public testing::Test {
 protected:
  void write(const std::string& bytes, std::uint64_t offset = 0) {
    ASSERT_TRUE(write_all(file_.get(), offset, std::as_bytes(std::span(bytes))));
  }
  void make() {
    file_ = Descriptor(::openat(directory_.get(), "f", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_TRUE(file_);
  }
  // The content of the file afterwards; "-" if there is none.
  static std::string left(SimulatedDisk& disk, SimulatedDisk::Ending ending) {
    const TemporaryDirectory after;
    disk.leave(after.path(), ending);
    if (!std::filesystem::exists(after.path() / "f")) return "-";
    std::ifstream in(after.path() / "f", std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const TemporaryDirectory temporary_;
  const Descriptor directory_{::open(temporary_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  Descriptor file_;
};

TEST_F(Disks, KeepWhatWasSyncedAndPerhapsMore) {
  SimulatedDisk disk(temporary_.path(), 1);
  make();
  write("synced");
  ::fdatasync(file_.get());
  ::fsync(directory_.get());
  write(" and not", 6);
  EXPECT_EQ(left(disk, SimulatedDisk::Ending::process), "synced and not");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(left(disk, SimulatedDisk::Ending::machine));
  EXPECT_TRUE(seen.contains("synced") && seen.contains("synced and not"));
  for (const std::string& text : seen) EXPECT_TRUE(text.starts_with("synced"));
}

TEST_F(Disks, MayForgetANameThatWasNotSynced) {
  SimulatedDisk disk(temporary_.path(), 1);
  make();
  ::fdatasync(file_.get());
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(left(disk, SimulatedDisk::Ending::machine));
  EXPECT_EQ(seen, (std::set<std::string>{"", "-"}));
}

TEST_F(Disks, StopAndFailAtTheCallThatIsAskedFor) {
  SimulatedDisk disk(temporary_.path(), 1);
  make();
  disk.fail_in(2, ENOSPC, false);
  write("one");
  EXPECT_EQ(write_all(file_.get(), 0, std::as_bytes(std::span("two", 3))).error().system_errno, ENOSPC);
  EXPECT_TRUE(disk.mend());
  EXPECT_FALSE(disk.mend());
  write("three");
  disk.stop_in(1);
  EXPECT_FALSE(disk.has_stopped());
  EXPECT_FALSE(write_all(file_.get(), 5, std::as_bytes(std::span("four", 4))));
  EXPECT_TRUE(disk.has_stopped());
  EXPECT_EQ(left(disk, SimulatedDisk::Ending::process).substr(0, 5), "three");
}

}  // namespace
}  // namespace tfilefs
