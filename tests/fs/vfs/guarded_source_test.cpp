// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/guarded_source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "fs/cache/synthetic_streams.h"
#include "temporary_directory.h"

namespace tfilefs {
namespace {

class GuardedFile : public testing::Test {
 protected:
  void SetUp() override {
    path_ = top_ / "file";
    write(path_, 0, std::string(4000, 'a'));
    guarded_ = GuardedSource::guard(tfile::open_source(path_.string()).value()).value();
  }
  static void write(const std::filesystem::path& path, long offset, const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), std::filesystem::exists(path) ? "r+" : "w");
    std::fseek(file, offset, SEEK_SET);
    std::fwrite(text.data(), 1, text.size(), file);
    std::fclose(file);
  }
  // The clock for time stamps is coarse: this makes sure that the change shows.
  void stamp() {
    struct stat status {};
    ::stat(path_.c_str(), &status);
    const timespec times[2] = {status.st_atim, {status.st_mtim.tv_sec + 5, 0}};
    ::utimensat(AT_FDCWD, path_.c_str(), times, 0);
  }
  Result<> read() const {
    std::string bytes(100, '\0');
    return tfile::read_range(*guarded_, {2000, bytes.size()}, std::as_writable_bytes(std::span(bytes)));
  }

  const TemporaryDirectory temporary_;
  const std::filesystem::path top_ = temporary_.path();
  std::filesystem::path path_;
  std::shared_ptr<const GuardedSource> guarded_;
};

TEST_F(GuardedFile, ReadsWhatIsUnchanged) {
  EXPECT_TRUE(read());
  EXPECT_TRUE(read());
}

TEST_F(GuardedFile, RefusesBytesOfAnotherState) {
  write(path_, 2000, "changed");
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
}

TEST_F(GuardedFile, MayGrow) {
  write(path_, 4000, "more");
  stamp();
  EXPECT_TRUE(read());
  EXPECT_EQ(guarded_->size(), 4000u);
  write(path_, 4004, "and more");
  stamp();
  EXPECT_TRUE(read());
}

TEST_F(GuardedFile, MayBeFilledInGapsWhileItGoesBeyondTheLastSave) {
  guarded_->set_saved_end(3000);
  write(path_, 2500, "a basket");
  stamp();
  EXPECT_TRUE(read());
  guarded_->set_saved_end(4000);
  write(path_, 2500, "a change");
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
}

TEST_F(GuardedFile, MayNotGrowUnderAnotherHead) {
  write(path_, 4000, "more");
  write(path_, 12, "saved");
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
}

// Bytes of which somebody keeps something, as of a basket.
class KeptBytes : public GuardedFile {
 protected:
  void keep(std::uint64_t offset, std::size_t size) const {
    std::vector<std::byte> bytes(size);
    ASSERT_TRUE(tfile::read_range(*guarded_, {offset, size}, bytes));
    guarded_->note_kept(offset, bytes, {});
  }
};

TEST_F(KeptBytes, MustStayWhenTheFileGrows) {
  keep(1100, 500);
  write(path_, 4000, "more");
  write(path_, 2000, "a basket in a gap");
  stamp();
  EXPECT_TRUE(read());
  write(path_, 1300, std::string(100, 'b'));
  write(path_, 4004, "more");
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
}

TEST_F(KeptBytes, MustStayWhileGapsAreFilled) {
  guarded_->set_saved_end(3000);
  keep(1100, 50);
  write(path_, 1149, "b");
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
}

TEST_F(KeptBytes, AreSampledFromAllThatWereRead) {
  write(path_, 4000, std::string(100'000, 'a'));
  guarded_ = GuardedSource::guard(tfile::open_source(path_.string()).value()).value();
  for (std::uint64_t at = 2000; at < 104'000; at += 100) keep(at, 100);
  write(path_, 52'000, std::string(26'000, 'b'));
  write(path_, 104'000, "more");
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale) << "a quarter of them is another";
}

TEST_F(GuardedFile, MayNotShrink) {
  std::filesystem::resize_file(path_, 3000);
  stamp();
  EXPECT_EQ(read().error().kind, ErrorKind::stale);
}

TEST_F(GuardedFile, KnowsAnotherFileInItsPlace) {
  write(top_ / "new", 0, std::string(5000, 'a'));
  std::filesystem::rename(top_ / "new", path_);
  const auto now = tfile::open_source(path_.string()).value()->identity();
  EXPECT_FALSE(guarded_->accepts(guarded_->accepted(), now));
}

TEST_F(GuardedFile, LogsWhatReadersRead) {
  const auto log = std::make_shared<ReadLog>();
  guarded_->log_reads(log);
  EXPECT_TRUE(read());
  guarded_->note_kept(2010, std::vector<std::byte>(10, std::byte{'a'}), {5, 9});
  write(path_, 4000, "more");
  stamp();
  EXPECT_TRUE(read());  // and looks whether what was read is there
  write(path_, 12, "saved");
  stamp();
  EXPECT_FALSE(read());
  const ReadLog::Report report = log->report();
  ASSERT_EQ(report.last.size(), 3u) << "the third read brought bytes, if of another state";
  for (const LoggedRead& each : report.last) EXPECT_EQ(each.range, (tfile::ByteRange{2000, 100}));
  EXPECT_EQ(report.last[2].entries, (tfile::EntryRange{5, 9}));
  EXPECT_EQ(report.files.at(path_.string()).size, 4000u);
  std::string bytes(100, '\0');
  EXPECT_FALSE(tfile::read_range(*guarded_, {5000, bytes.size()}, std::as_writable_bytes(std::span(bytes))));
  EXPECT_EQ(log->report().reads, 3u) << "nothing was read";
}

// As a server, whose answers carry what state they are of.
class TellingSource final : public MemorySource {
 public:
  TellingSource() : MemorySource(std::vector<std::byte>(5000)) { told.tells_changes = true; }
  Result<tfile::Identity> identity_now() const override {
    ++looks;
    return MemorySource::identity_now();
  }
  Result<> read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    return changed ? tfile::fail(ErrorKind::stale, "another state") : MemorySource::read(ranges, into);
  }
  bool changed = false;
  mutable int looks = 0;
};

TEST(GuardedSource, DoesNotLookAtASourceThatTellsChanges) {
  const auto source = std::make_shared<TellingSource>();
  const auto guarded = GuardedSource::guard(source).value();
  std::string bytes(100, '\0');
  const auto into = std::as_writable_bytes(std::span(bytes));
  EXPECT_TRUE(tfile::read_range(*guarded, {2000, bytes.size()}, into));
  EXPECT_EQ(source->looks, 0);
  EXPECT_FALSE(guarded->is_stale());
  source->changed = true;
  EXPECT_EQ(tfile::read_range(*guarded, {2000, bytes.size()}, into).error().kind, ErrorKind::stale);
  EXPECT_TRUE(guarded->is_stale());
}

}  // namespace
}  // namespace tfilefs
