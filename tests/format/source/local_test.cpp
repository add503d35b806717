// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_directory.h"
#include "tfile/source.h"

namespace tfile {
namespace {

class LocalSource : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static std::string read(const Source& source, ByteRange range) {
    std::string text(range.size, '?');
    const auto result = read_range(source, range, std::as_writable_bytes(std::span(text)));
    return result ? text : "error: " + result.error().text;
  }

  const TemporaryDirectory temporary_;
  const std::string directory_ = temporary_.path().string();
};

std::string digits(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>('0' + i % 10);
  return text;
}

TEST_F(LocalSource, ReadsRangesTogether) {
  const auto source = open_source(write("a", digits(5000)));
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->size(), 5000u);
  EXPECT_EQ(read(**source, {4998, 2}), "89");
  EXPECT_EQ(read(**source, {5000, 0}), "");
  // Adjacent, separate, backwards, empty, and more ranges than one system call accepts.
  std::vector<ByteRange> ranges{{7, 3}, {10, 5}, {100, 1}, {50, 2}, {52, 0}, {52, 1}};
  for (std::uint64_t i = 0; i < 2500; ++i) ranges.push_back({2000 + i, 1});
  std::vector<std::string> texts;
  for (const ByteRange& range : ranges) texts.emplace_back(range.size, '?');
  std::vector<std::span<std::byte>> into;
  for (std::string& text : texts) into.push_back(std::as_writable_bytes(std::span(text)));
  ASSERT_TRUE((*source)->read(ranges, into));
  const std::string all = digits(5000);
  for (std::size_t i = 0; i < ranges.size(); ++i) EXPECT_EQ(texts[i], all.substr(ranges[i].begin, ranges[i].size)) << i;
}

TEST_F(LocalSource, BeyondTheEndIsDamage) {
  const auto source = open_source(write("a", digits(100)));
  ASSERT_TRUE(source);
  std::array<std::byte, 8> bytes;
  for (const std::uint64_t begin :
       {std::uint64_t{93}, std::uint64_t{100}, std::uint64_t{1} << 63, ~std::uint64_t{0} - 3}) {
    const auto result = read_range(**source, {begin, 8}, bytes);
    ASSERT_FALSE(result) << begin;
    EXPECT_EQ(result.error().kind, ErrorKind::damaged);
  }
  EXPECT_EQ(read_range(**source, {0, 7}, bytes).error().kind, ErrorKind::invalid);
}

TEST_F(LocalSource, ShrunkWhileOpenIsStale) {
  const std::string path = write("a", digits(100));
  const auto source = open_source(path);
  ASSERT_TRUE(source);
  std::filesystem::resize_file(path, 50);
  std::array<std::byte, 20> bytes;
  EXPECT_EQ(read_range(**source, {40, 20}, bytes).error().kind, ErrorKind::stale);
  const auto now = (*source)->identity_now();
  ASSERT_TRUE(now);
  EXPECT_NE(*now, (*source)->identity());
}

TEST_F(LocalSource, OnlyRegularFilesOpen) {
  EXPECT_EQ(open_source(directory_ + "/none").error().kind, ErrorKind::not_found);
  EXPECT_EQ(open_source(directory_).error().kind, ErrorKind::invalid);
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(open_source(fifo).error().kind, ErrorKind::invalid);
}

// Without it, on an old kernel or in an emulator, no link is followed.
bool has_openat2() { return ::syscall(SYS_openat2, -1, "", nullptr, 0) == 0 || errno != ENOSYS; }

TEST_F(LocalSource, SiblingsLieBeneathItsDirectory) {
  write("b", "sibling");
  std::filesystem::create_directory(directory_ + "/sub");
  write("sub/c", "deeper");
  std::filesystem::create_symlink("b", directory_ + "/link");
  std::filesystem::create_symlink("/etc/passwd", directory_ + "/out");
  std::filesystem::create_symlink("../../../../../../etc/passwd", directory_ + "/sub/out");
  const auto source = open_source(write("a", "first"));
  ASSERT_TRUE(source);
  const auto kind_of = [&](std::string_view path) {
    const auto sibling = (*source)->sibling(path);
    return sibling ? std::optional<ErrorKind>() : sibling.error().kind;
  };
  const auto b = (*source)->sibling("b");
  ASSERT_TRUE(b);
  EXPECT_EQ(read(**b, {0, 7}), "sibling");
  const auto c = (*source)->sibling("sub/c");
  ASSERT_TRUE(c);
  EXPECT_EQ(read(**c, {0, 6}), "deeper");
  EXPECT_TRUE((*c)->sibling("./c"));
  EXPECT_EQ((*c)->sibling("../b").error().kind, ErrorKind::denied);
  EXPECT_EQ(kind_of("link"), has_openat2() ? std::nullopt : std::optional(ErrorKind::denied))
      << "a link that stays inside";
  EXPECT_EQ(kind_of("none"), ErrorKind::not_found);
  EXPECT_EQ(kind_of(""), ErrorKind::not_found);
  EXPECT_EQ(kind_of("out"), ErrorKind::denied);
  EXPECT_EQ(kind_of("sub/out"), ErrorKind::denied);
  EXPECT_EQ(kind_of("../" + std::filesystem::path(directory_).filename().string() + "/b"), ErrorKind::denied);
  EXPECT_EQ(kind_of("/etc/passwd"), ErrorKind::denied);
  EXPECT_EQ(kind_of(std::string_view("b\0c", 3)), ErrorKind::denied);
  EXPECT_EQ(kind_of("sub"), ErrorKind::invalid);
}

TEST_F(LocalSource, AdoptsADescriptor) {
  write("b", "sibling");
  const std::string path = write("a", "first");
  const int directory = ::open(directory_.c_str(), O_PATH | O_DIRECTORY);
  const auto source = adopt_source(::open(path.c_str(), O_RDONLY), "shown", directory);
  ASSERT_TRUE(source);
  ::close(directory);  // it was borrowed
  EXPECT_EQ((*source)->name(), "shown");
  EXPECT_EQ(read(**source, {0, 5}), "first");
  EXPECT_TRUE((*source)->sibling("b"));
  const auto alone = adopt_source(::open(path.c_str(), O_RDONLY), "alone", -1);
  ASSERT_TRUE(alone);
  EXPECT_EQ((*alone)->sibling("b").error().kind, ErrorKind::not_found);
}

}  // namespace
}  // namespace tfile
