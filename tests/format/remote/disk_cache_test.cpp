// SPDX-License-Identifier: Apache-2.0
#include "remote/disk/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "remote/disk/disk_threads.h"
#include "remote/server/held_edges.h"
#include "temporary_directory.h"

namespace tfile {
namespace {

namespace fs = std::filesystem;

constexpr DiskKey kKey{1, 2};
constexpr std::uint64_t kSize = 3'000'000;

std::byte byte_at(std::uint64_t at, unsigned state) { return static_cast<std::byte>((at * 2654435761u >> 7) + state); }

std::vector<std::byte> bytes_of(std::uint64_t begin, std::size_t size, unsigned state = 1) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = byte_at(begin + i, state);
  return bytes;
}

Identity identity_of_state(unsigned state, std::uint64_t size = kSize) {
  return {size, 1'000'000'000 + static_cast<std::int64_t>(state), {}, state};
}

Descriptor opened(const fs::path& path) { return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); }

std::shared_ptr<DiskLog> begun(const fs::path& path) {
  fs::remove(path);
  return DiskLog::begin(opened(path), kKey, identity_of_state(1));
}

std::shared_ptr<DiskLog> reopened(const fs::path& path) {
  auto log = DiskLog::open(opened(path), kKey);
  if (log) log->scan();
  return log;
}

void append(DiskLog& log, std::uint64_t begin, std::size_t size) {
  const auto bytes = bytes_of(begin, size);
  const FilePiece piece{begin, bytes};
  ASSERT_EQ(log.append({&piece, 1}), DiskLog::Appended::done);
}

std::uint64_t missing_of(const std::vector<ByteRange>& rest) {
  std::uint64_t missing = 0;
  for (const ByteRange range : rest) missing += range.size;
  return missing;
}

// Reads, and fails unless all that is said to be there is right. Returns the bytes that are not there.
template <class Kept>
std::uint64_t read_right(Kept& kept, std::uint64_t begin, std::size_t size, unsigned state = 1) {
  std::vector<std::byte> into(size);
  const std::vector<ByteRange> rest = kept.read({begin, size}, into);
  for (const ByteRange range : rest)
    for (std::uint64_t at = range.begin; at < range.end(); ++at) into[at - begin] = byte_at(at, state);
  EXPECT_EQ(into, bytes_of(begin, size, state));
  return missing_of(rest);
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_contents(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class DiskCache : public testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const fs::path path_ = fs::path(directory_.path()) / "log";

  RemoteOptions options(std::uint64_t bytes = 1 << 30) const {
    RemoteOptions options;
    options.cache_directory = (fs::path(directory_.path()) / "cache").string();
    options.cache_bytes = bytes;
    return options;
  }
  std::shared_ptr<DiskFile> used(const std::string& url, unsigned state = 1,
                                 const RemoteOptions* given = nullptr) const {
    auto file = DiskFile::find(given ? *given : options(), url);
    file->use(identity_of_state(state));
    return file;
  }
  static void keep(DiskFile& file, std::uint64_t begin, std::size_t size, unsigned state = 1) {
    const auto bytes = bytes_of(begin, size, state);
    const FilePiece piece{begin, bytes};
    file.keep({&piece, 1});
    ASSERT_TRUE(wait_for_disk_writes(30));
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(options().cache_directory))
      if (entry.path().extension() == ".tfc") found.push_back(entry.path());
    return found;
  }
};

TEST_F(DiskCache, HasWhatWasAppended) {
  const auto log = begun(path_);
  append(*log, 1000, 500'000);
  append(*log, 900'000, 1);
  append(*log, 400'000, 200'000);
  for (const auto& one : {log, reopened(path_)}) {
    EXPECT_EQ(read_right(*one, 1000, 599'000), 0u);
    EXPECT_EQ(read_right(*one, 999, 599'002), 2u);
    EXPECT_EQ(read_right(*one, 899'999, 3), 2u);
    EXPECT_TRUE(one->has({5000, 100}));
    EXPECT_FALSE(one->has({0, 5000}));
  }
  const auto end = log->end();
  append(*log, 2000, 300'000);
  EXPECT_EQ(log->end(), end) << "what is there is not appended again";
}

TEST_F(DiskCache, IsRightWhateverOverlaps) {
  std::mt19937 random(1);
  const auto first = begun(path_), second = reopened(path_);
  for (int round = 0; round < 400; ++round) {
    const auto& log = round % 2 ? first : second;
    const std::uint64_t begin = random() % (kSize - 1);
    const std::size_t size = std::min<std::uint64_t>(1 + random() % (random() % 8 ? 5'000 : 400'000), kSize - begin);
    append(*log, begin, size);
    ASSERT_EQ(read_right(*log, begin, size), 0u);
    const auto& other = round % 2 ? second : first;
    const std::uint64_t missing = read_right(*other, begin / 2, size);
    other->scan();
    ASSERT_LE(read_right(*other, begin / 2, size), missing);
    ASSERT_EQ(read_right(*other, begin, size), 0u);
  }
  EXPECT_LT(fs::file_size(path_), kSize + 400 * 400) << "nothing is there twice";
}

TEST_F(DiskCache, ATornAppendIsWrittenOver) {
  append(*begun(path_), 0, 1000);
  const auto before = fs::file_size(path_);
  append(*reopened(path_), 5000, 300);
  const std::string whole = contents(path_);
  for (auto size = before; size < whole.size(); ++size) {
    write_contents(path_, whole.substr(0, size) + std::string(size % 3 ? 0 : 100, 'x'));
    const auto log = reopened(path_);
    ASSERT_TRUE(log);
    ASSERT_EQ(read_right(*log, 0, 1000), 0u);
    ASSERT_EQ(read_right(*log, 5000, 300), 300u);
    append(*log, 5000, 300);
    append(*log, 7000, 10);
    ASSERT_EQ(read_right(*reopened(path_), 5000, 300), 0u) << size;
    ASSERT_EQ(read_right(*reopened(path_), 7000, 10), 0u) << size;
  }
}

TEST_F(DiskCache, AFlippedBitCostsAFetch) {
  const auto begin = begun(path_);
  append(*begin, 0, 700);
  append(*begin, 2000, 500);
  append(*begin, 700, 100);
  const std::string whole = contents(path_);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    write_contents(path_, flipped);
    const auto log = reopened(path_);
    if (!log) {
      ASSERT_LT(at, 7 * 8u) << "the header";
      continue;
    }
    const std::uint64_t missing = read_right(*log, 0, 800) + read_right(*log, 2000, 500);
    ASSERT_GT(missing, 0u) << "every byte counts: " << at;
    append(*log, 0, 800);
    append(*log, 2000, 500);
    ASSERT_EQ(read_right(*log, 0, 800) + read_right(*log, 2000, 500), 0u);
    const auto again = reopened(path_);
    ASSERT_EQ(read_right(*again, 0, 800) + read_right(*again, 2000, 500), 0u) << "repaired for all: " << at;
  }
}

TEST_F(DiskCache, HostileFilesAreNone) {
  std::mt19937 random(7);
  append(*begun(path_), 0, 3000);
  const std::string whole = contents(path_);
  for (int round = 0; round < 500; ++round) {
    std::string hostile = round % 2 ? whole : whole.substr(0, 56 + random() % 100);
    for (unsigned i = 0; i < 1 + random() % 40; ++i) hostile[random() % hostile.size()] = static_cast<char>(random());
    if (round % 3 == 0) hostile.resize(random() % 200);
    write_contents(path_, hostile);
    if (const auto log = reopened(path_)) read_right(*log, 0, 3000);
  }
}

TEST_F(DiskCache, OtherStatesAndUrlsAreApart) {
  const auto first = used("http://a/x");
  keep(*first, 0, 1000, 1);
  EXPECT_EQ(read_right(*first, 0, 1000, 1), 0u);
  EXPECT_EQ(read_right(*used("http://a/y"), 0, 1000), 1000u);
  EXPECT_EQ(read_right(*used("http://a/x"), 0, 1000), 0u);
  const auto second = used("http://a/x", 2);
  EXPECT_EQ(read_right(*second, 0, 1000, 2), 1000u);
  keep(*second, 0, 1000, 2);
  EXPECT_EQ(read_right(*second, 0, 1000, 2), 0u);
  EXPECT_EQ(read_right(*first, 0, 1000, 1), 0u) << "whoever has it open goes on";
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(read_right(*used("http://a/x", 2), 0, 1000, 2), 0u);
}

TEST_F(DiskCache, AFileThatChangedJustNowIsNotKept) {
  Identity fresh = identity_of_state(1);
  fresh.modified_ns = std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto file = DiskFile::find(options(), "http://a/x");
  file->use(fresh);
  keep(*file, 0, 1000);
  EXPECT_EQ(read_right(*file, 0, 1000), 1000u);
}

TEST_F(DiskCache, TellsWhetherAnOpeningIsThere) {
  const auto file = used("http://a/x");
  EXPECT_FALSE(file->has_edges());
  keep(*file, 0, HeldEdges().begin);
  EXPECT_FALSE(file->has_edges());
  keep(*file, kSize - HeldEdges().end, HeldEdges().end);
  EXPECT_TRUE(file->has_edges());
  EXPECT_TRUE(DiskFile::find(options(), "http://a/x")->has_edges());
  EXPECT_FALSE(DiskFile::find(options(), "http://a/x?")->has_edges());
}

TEST_F(DiskCache, IsSharedByManyAtOnce) {
  std::vector<std::thread> threads;
  for (unsigned n = 0; n < 8; ++n)
    threads.emplace_back([&, n] {
      std::mt19937 random(n);
      const auto file = used("http://a/x");
      for (int round = 0; round < 40; ++round) {
        const std::uint64_t begin = random() % 1'000'000;
        read_right(*file, begin, 100'000);
        const auto bytes = bytes_of(begin, 100'000);
        const FilePiece piece{begin, bytes};
        file->keep({&piece, 1});
      }
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(wait_for_disk_writes(30));
  EXPECT_LT(read_right(*used("http://a/x"), 100'000, 900'000), 100'000u);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_LT(fs::file_size(files()[0]), 1'200'000u);
}

TEST_F(DiskCache, TheFileUsedLongestAgoGoesFirst) {
  const RemoteOptions small = options(4 << 20);
  for (const std::string name : {"a", "b", "c", "d", "e", "f"}) {
    const auto file = used("http://a/" + name, 1, &small);
    for (std::uint64_t begin = 0; begin < 1'000'000; begin += 50'000) keep(*file, begin, 50'000);
    std::uint64_t bytes = 0;
    for (const fs::path& path : files()) bytes += fs::file_size(path);
    EXPECT_LE(bytes, small.cache_bytes) << name;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the clock of files is coarse
  }
  EXPECT_EQ(read_right(*used("http://a/f"), 0, 1'000'000), 0u);
  EXPECT_EQ(read_right(*used("http://a/e"), 0, 1'000'000), 0u);
  EXPECT_EQ(read_right(*used("http://a/a"), 0, 1'000'000), 1'000'000u);
}

TEST_F(DiskCache, OneFileLargerThanTheCacheIsBegunAnew) {
  const RemoteOptions small = options(1 << 20);
  const auto file = used("http://a/x", 1, &small);
  for (std::uint64_t begin = 0; begin + 50'000 <= kSize; begin += 50'000) {
    keep(*file, begin, 50'000);
    std::uint64_t bytes = 0;
    for (const fs::path& path : files()) bytes += fs::file_size(path);
    EXPECT_LE(bytes, small.cache_bytes + 50'000);
    EXPECT_LE(read_right(*file, begin, 50'000), 50'000u);
  }
  keep(*file, 0, 50'000);
  EXPECT_EQ(read_right(*file, 0, 50'000), 0u);
}

TEST_F(DiskCache, ManyFilesTogetherStayWithinTheSize) {
  const RemoteOptions small = options(4 << 20);
  std::vector<std::shared_ptr<DiskFile>> open;
  for (int number = 0; number < 200; ++number) {
    open.push_back(used("http://a/" + std::to_string(number), 1, &small));
    keep(*open.back(), 0, 1000);
  }
  for (const auto& file : open) keep(*file, 1000, 60'000);
  std::uint64_t bytes = 0;
  for (const fs::path& path : files()) bytes += fs::file_size(path);
  EXPECT_LE(bytes, small.cache_bytes);
}

TEST_F(DiskCache, ADirectoryThatIsRemovedIsMadeAnew) {
  const auto file = used("http://a/x");
  keep(*file, 0, 1000);
  fs::remove_all(options().cache_directory);
  EXPECT_EQ(read_right(*file, 0, 1000), 0u) << "an open file stays";
  keep(*file, 5000, 1000);
  EXPECT_EQ(read_right(*file, 5000, 1000), 0u);
  EXPECT_EQ(files().size(), 1u);
  EXPECT_EQ(fs::status(options().cache_directory).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(files()[0]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(DiskCache, AFullDiskIsNotUsed) {
  const auto file = used("http://a/x");
  keep(*file, 0, 100'000);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit limit{150'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  keep(*file, 500'000, 100'000);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  SourceCounts counts;
  keep(*file, 700'000, 1000);
  EXPECT_EQ(read_right(*file, 0, 100'000), 0u);
  EXPECT_EQ(read_right(*file, 500'000, 100'000), 100'000u);
  EXPECT_EQ(read_right(*file, 700'000, 1000), 1000u) << "not tried again";
  file->add_counts(counts);
  EXPECT_EQ(counts.disk_failures, 1u);
  EXPECT_EQ(counts.disk_hits, 1u);
  EXPECT_EQ(counts.disk_bytes, 100'000u);
  const auto again = used("http://a/x");
  keep(*again, 500'000, 100'000);
  EXPECT_EQ(read_right(*again, 0, 100'000) + read_right(*again, 500'000, 100'000), 0u);
}

TEST_F(DiskCache, DirectoriesOfOthersAreRefused) {
  const std::string path = options().cache_directory;
  ASSERT_TRUE(make_cache_directory(path));
  ASSERT_EQ(::chmod(path.c_str(), 0770), 0);
  EXPECT_EQ(make_cache_directory(path).error().kind, ErrorKind::denied);
  const auto file = used("http://a/x");
  keep(*file, 0, 1000);
  EXPECT_EQ(read_right(*file, 0, 1000), 1000u);
  EXPECT_TRUE(files().empty());
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  EXPECT_EQ(make_cache_directory(path + "/no/such").error().kind, ErrorKind::io);
  write_contents(path_, "");
  EXPECT_EQ(make_cache_directory(path_).error().kind, ErrorKind::invalid);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path.c_str(), 1, 1), 0);
  EXPECT_EQ(make_cache_directory(path).error().kind, ErrorKind::denied);
}

TEST_F(DiskCache, LinksAreNotFollowed) {
  keep(*used("http://a/x"), 0, 1000);
  const fs::path file = files()[0];
  write_contents(path_, "precious");
  fs::remove(file);
  fs::create_symlink(path_, file);
  const auto again = used("http://a/x");
  keep(*again, 0, 1000);
  read_right(*again, 0, 1000);
  EXPECT_EQ(contents(path_), "precious");
}

}  // namespace
}  // namespace tfile
