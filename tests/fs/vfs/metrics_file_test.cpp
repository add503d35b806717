// SPDX-License-Identifier: Apache-2.0
#include "vfs/metrics_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "temporary_directory.h"
#include "wait_until.h"

namespace tfilefs {
namespace {

using namespace std::chrono_literals;
using Clock = MetricsFile::Clock;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string page(int number) { return "# HELP tfilefs_page " + std::to_string(number) + "\n"; }

class MetricsInFile : public testing::Test {
 protected:
  std::string next() { return page(++pages_); }
  MetricsFile made(const std::string& path) {
    return MetricsFile(
        path, [this] { return next(); }, errors_);
  }
  std::size_t names() const {
    using Directory = std::filesystem::directory_iterator;
    return static_cast<std::size_t>(std::distance(Directory(directory_.path()), Directory()));
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path().string() + "/a.prom";
  const Clock::time_point begin_ = Clock::time_point(1000s);
  ErrorLog errors_;
  int pages_ = 0;
};

TEST_F(MetricsInFile, ItIsWrittenWhenItIsDue) {
  MetricsFile file = made(path_);
  EXPECT_EQ(file.look(begin_), begin_ + 15s);
  EXPECT_EQ(text_of(path_), page(1));
  EXPECT_EQ(file.look(begin_ + 14s), begin_ + 15s);
  EXPECT_EQ(text_of(path_), page(1));
  EXPECT_EQ(file.look(begin_ + 15s), begin_ + 30s);
  EXPECT_EQ(text_of(path_), page(2));
  EXPECT_EQ(file.look(begin_ + 100s), begin_ + 115s) << "what was missed is not made up for";
  EXPECT_EQ(pages_, 3);
  EXPECT_EQ(names(), 1u);
}

TEST_F(MetricsInFile, OthersMayReadItWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  MetricsFile file = made(path_);
  file.look(begin_);
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0644u);
}

TEST_F(MetricsInFile, ItGoesWithTheMount) {
  { made(path_).look(begin_); }
  EXPECT_EQ(names(), 0u);
}

TEST_F(MetricsInFile, WhatAnotherMountHasPutThereStays) {
  MetricsFile other = made(path_);
  {
    MetricsFile file = made(path_);
    file.look(begin_);
    other.look(begin_);
  }
  EXPECT_EQ(text_of(path_), page(2));
}

TEST_F(MetricsInFile, AFailureIsToldOnceUntilItWorksAgain) {
  const std::string below = directory_.path().string() + "/later";
  MetricsFile file = made(below + "/a.prom");
  for (int i = 0; i < 5; ++i) file.look(begin_ + i * 15s);
  EXPECT_EQ(errors_.count(), 1u);
  EXPECT_NE(errors_.text().find("/.tfilefs/metrics: " + below + "/a.prom"), std::string::npos) << errors_.text();
  std::filesystem::create_directory(below);
  EXPECT_EQ(file.look(begin_ + 75s), begin_ + 90s);
  EXPECT_EQ(text_of(below + "/a.prom"), page(6));
  std::filesystem::remove_all(below);
  file.look(begin_ + 90s);
  file.look(begin_ + 105s);
  EXPECT_EQ(errors_.count(), 2u);
}

TEST_F(MetricsInFile, ADirectoryOfThatNameStays) {
  std::filesystem::create_directory(path_);
  { made(path_).look(begin_); }
  EXPECT_EQ(errors_.count(), 1u);
  EXPECT_EQ(names(), 1u) << "nothing is left beside it";
}

// A run that was mistyped for the page, say: it would be gone, in place of its name being refused.
TEST_F(MetricsInFile, WhatIsNoPageIsNotReplaced) {
  std::ofstream(path_) << "root: a file of data";
  EXPECT_FALSE(check_metrics_file(path_));
  { made(path_).look(begin_); }
  EXPECT_EQ(text_of(path_), "root: a file of data");
  EXPECT_EQ(errors_.count(), 1u);
  EXPECT_EQ(names(), 1u);
}

TEST_F(MetricsInFile, WhatIsNoPageAnyMoreIsNotReplaced) {
  MetricsFile file = made(path_);
  file.look(begin_);
  std::filesystem::remove(path_);
  std::ofstream(path_) << "another's";
  file.look(begin_ + 15s);
  EXPECT_EQ(text_of(path_), "another's");
}

TEST_F(MetricsInFile, WhatIsNoPageAnyMoreStaysAtTheEnd) {
  {
    MetricsFile file = made(path_);
    file.look(begin_);
    std::ofstream(path_) << "another's";  // the same file: its number is no proof
  }
  EXPECT_EQ(text_of(path_), "another's");
}

TEST_F(MetricsInFile, APipeAndALinkAreNotReplaced) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(check_metrics_file(path_));
  { made(path_).look(begin_); }
  EXPECT_TRUE(std::filesystem::is_fifo(path_));
  std::filesystem::remove(path_);
  std::filesystem::create_symlink("/dev/null", path_);
  EXPECT_FALSE(check_metrics_file(path_));
  { made(path_).look(begin_); }
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

TEST_F(MetricsInFile, AnEmptyFileAndThePageOfAMountThatWasKilledAreReplaced) {
  for (const std::string& before : {std::string(), page(99)}) {
    std::ofstream(path_) << before;
    EXPECT_TRUE(check_metrics_file(path_));
    MetricsFile file = made(path_);
    file.look(begin_);
    EXPECT_EQ(text_of(path_), page(pages_));
  }
}

TEST_F(MetricsInFile, AReaderFindsAllOfAPage) {
  std::atomic<bool> over = false;
  char letter = 'A';
  const std::string head = page(1);
  MetricsFile file(
      path_, [&] { return head + std::string(200'000, letter = static_cast<char>(letter == 'Z' ? 'A' : letter + 1)); },
      errors_);
  file.look(begin_);
  std::thread reader([&] {
    while (!over) {
      const std::string text = text_of(path_);
      EXPECT_EQ(text.size(), head.size() + 200'000);
      EXPECT_EQ(std::count(text.begin() + static_cast<std::ptrdiff_t>(head.size()), text.end(), text.back()), 200'000);
    }
  });
  for (int i = 1; i < 300; ++i) file.look(begin_ + i * 15s);
  over = true;
  reader.join();
}

TEST_F(MetricsInFile, AThreadWritesItAtOnceAndEndsAtOnce) {
  const auto begin = Clock::now();
  {
    const MetricsWriter writer(
        path_, [this] { return next(); }, errors_);
    EXPECT_TRUE(wait_until([&] { return std::filesystem::exists(path_); }));
    EXPECT_EQ(text_of(path_), page(1));
  }
  EXPECT_LT(Clock::now() - begin, 10s);
  EXPECT_EQ(names(), 0u);
}

}  // namespace
}  // namespace tfilefs
