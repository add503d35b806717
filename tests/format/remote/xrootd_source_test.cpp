// SPDX-License-Identifier: Apache-2.0
// With a server: TFILEFS_XROOTD_URL names a file of some megabytes there, TFILEFS_XROOTD_FILE the same file here.
// TFILEFS_XROOTD_SERVED is the server's own copy, for tests that change it. tests/mount/test_xrootd.py starts a server
// and runs these. Without one, only what needs none is tested.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "remote/server/protocols.h"
#include "tfile/source.h"

namespace tfile {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// A socket that accepts connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 16) != 0 || ::getsockname(socket_, any, &size) != 0)
      std::abort();
    port_ = ntohs(address.sin_port);
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;
  ~SilentServer() { ::close(socket_); }
  std::string url(const std::string& login = "") const {
    return "root://" + login + "127.0.0.1:" + std::to_string(port_) + "//data/a.root?authz=hidden";
  }

 private:
  int socket_;
  int port_ = 0;
};

// Stops a process, and returns when none of its threads runs: a signal stops each one at its next return from the
// kernel, and one that has its request by then answers it.
void stop_all_threads(pid_t process) {
  ASSERT_EQ(::kill(process, SIGSTOP), 0);
  const auto runs = [](const std::filesystem::directory_entry& thread) {
    std::ifstream file(thread.path() / "stat");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    const std::size_t end_of_name = line.rfind(')');  // the state follows it: proc(5)
    return end_of_name != std::string::npos && line.substr(end_of_name, 3) != ") T";
  };
  const auto deadline = Clock::now() + std::chrono::seconds(10);
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(process) + "/task");
  for (const auto& thread : threads) {
    while (runs(thread)) {
      ASSERT_LT(Clock::now(), deadline);
      std::this_thread::sleep_for(milliseconds(1));
    }
  }
}

RemoteOptions within(milliseconds timeout) {
  RemoteOptions options;
  options.timeout = timeout;
  return options;
}

TEST(XrootdSource, ASilentServerIsGivenUpInTime) {
  const SilentServer server;
  const auto begin = Clock::now();
  const auto source = open_source(server.url("me:word@"), within(milliseconds(1500)));
  const auto took = Clock::now() - begin;
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().kind, ErrorKind::timed_out) << source.error().text;
  EXPECT_LT(took, milliseconds(3000));
  EXPECT_TRUE(source.error().text.starts_with("root://127.0.0.1:")) << source.error().text;
  for (const char* const secret : {"me:", "word", "hidden"})
    EXPECT_EQ(source.error().text.find(secret), std::string::npos) << source.error().text;
}

TEST(XrootdSource, AnOpeningEndsWhenItIsStopped) {
  const SilentServer server;
  std::stop_source stop;
  RemoteOptions options;
  options.stop = stop.get_token();
  std::thread stopping([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop.request_stop();
  });
  const auto begin = Clock::now();
  const auto source = open_source(server.url(), options);
  stopping.join();
  ASSERT_FALSE(source);
  EXPECT_LT(Clock::now() - begin, milliseconds(2000));
}

TEST(XrootdSource, ARefusedConnectionIsAnErrorAtOnce) {
  const auto begin = Clock::now();
  const auto source = open_source("root://127.0.0.1:1//data/a.root");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().kind, ErrorKind::io);
  EXPECT_LT(Clock::now() - begin, milliseconds(3000));
  EXPECT_EQ(source.error().text.find('\n'), std::string::npos);
  EXPECT_FALSE(open_source("root:///a.root"));
  EXPECT_FALSE(open_source("root://"));
}

// Not by open_source(), which keeps bytes.
class XrootdFile : public testing::Test {
 protected:
  void SetUp() override {
    const char* const url = std::getenv("TFILEFS_XROOTD_URL");
    const char* const path = std::getenv("TFILEFS_XROOTD_FILE");
    if (!url || !path) GTEST_SKIP() << "TFILEFS_XROOTD_URL and TFILEFS_XROOTD_FILE name no file";
    url_ = url;
    std::ifstream file(path, std::ios::binary);
    content_.assign(std::istreambuf_iterator<char>(file), {});
  }

  std::vector<ByteRange> some_ranges(std::mt19937& random, std::size_t most) const {
    std::vector<ByteRange> ranges;
    for (std::size_t i = 1 + random() % most; i > 0; --i) {
      const std::uint64_t begin = random() % content_.size();
      const std::uint64_t size_max = random() % 50 == 0 ? content_.size() : 5000;
      ranges.push_back({begin, random() % (std::min(size_max, content_.size() - begin) + 1)});
    }
    return ranges;
  }

  std::string url_, content_;
};

// Memory for a read, and whether it has arrived.
struct Wanted {
  explicit Wanted(std::vector<ByteRange> wanted) : ranges(std::move(wanted)) {
    for (const ByteRange& range : ranges) texts.emplace_back(range.size, '?');
    for (std::string& text : texts) into.push_back(std::as_writable_bytes(std::span(text)));
  }
  bool is_part_of(const std::string& content) const {
    for (std::size_t i = 0; i < ranges.size(); ++i)
      if (content.compare(ranges[i].begin, ranges[i].size, texts[i]) != 0) return false;
    return true;
  }
  std::vector<ByteRange> ranges;
  std::vector<std::string> texts;
  std::vector<std::span<std::byte>> into;
};

TEST_F(XrootdFile, HasTheFilesBytes) {
  const auto source = open_xrootd(url_, {});
  ASSERT_TRUE(source) << source.error().text;
  EXPECT_EQ((*source)->size(), content_.size());
  EXPECT_GT((*source)->identity().modified_ns, 1'600'000'000'000'000'000);
  EXPECT_GT((*source)->origin(), kLocalOrigin);
  const SourceTraits traits = (*source)->traits();
  EXPECT_TRUE(traits.starts_reads && traits.tells_changes);
  EXPECT_GT(traits.begin_held, 0u);
  EXPECT_GT(traits.delay.count(), 0);
  const auto now = (*source)->identity_now();
  ASSERT_TRUE(now) << now.error().text;
  EXPECT_EQ(*now, (*source)->identity());

  Wanted all({{0, content_.size()}});
  ASSERT_TRUE((*source)->read(all.ranges, all.into));
  EXPECT_TRUE(all.is_part_of(content_));
  std::vector<ByteRange> many;
  for (std::uint64_t at = 0; at + 2 < content_.size() && many.size() < 5000; at += content_.size() / 5000 + 3)
    many.push_back({at, 2});
  Wanted small(std::move(many));
  ASSERT_TRUE((*source)->read(small.ranges, small.into));
  EXPECT_TRUE(small.is_part_of(content_));
}

TEST_F(XrootdFile, BeyondTheEndIsDamage) {
  const auto source = open_xrootd(url_, {});
  ASSERT_TRUE(source);
  for (const ByteRange range :
       {ByteRange{content_.size(), 1}, {content_.size() - 1, 2}, {UINT64_MAX, 2}, {1, SIZE_MAX}}) {
    std::byte place{};
    const std::span<std::byte> into(&place, range.size);
    const auto result = (*source)->read({&range, 1}, {&into, 1});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::damaged);
  }
  EXPECT_TRUE(read_range(**source, {content_.size(), 0}, {}));
}

TEST_F(XrootdFile, AMissingSiblingIsNotFound) {
  const auto source = open_xrootd(url_, {});
  ASSERT_TRUE(source);
  const auto missing = (*source)->sibling("none.root");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::not_found) << missing.error().text;
  EXPECT_TRUE((*source)->sibling(url_.substr(url_.rfind('/') + 1)));
}

TEST_F(XrootdFile, ManyThreadsReadTheSame) {
  const auto source = open_xrootd(url_, {});
  ASSERT_TRUE(source);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed)
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 40; ++i) {
        Wanted wanted(some_ranges(random, 300));
        const auto result = (*source)->read(wanted.ranges, wanted.into);
        if (!result || !wanted.is_part_of(content_)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// For so many seconds, in which the one who runs this stops and starts the server. No read may fail, nor bring other
// bytes.
TEST_F(XrootdFile, ReadsGoOnWhileTheServerIsAway) {
  const char* const seconds = std::getenv("TFILEFS_XROOTD_SECONDS");
  if (!seconds) GTEST_SKIP() << "TFILEFS_XROOTD_SECONDS does not say for how long";
  const auto source = open_xrootd(url_, within(milliseconds(20'000)));
  ASSERT_TRUE(source);
  const auto end = Clock::now() + std::chrono::seconds(std::atoi(seconds));
  std::mt19937 random(5);
  milliseconds longest{0};
  while (Clock::now() < end) {
    Wanted wanted(some_ranges(random, 50));
    const auto begin = Clock::now();
    const auto result = (*source)->read(wanted.ranges, wanted.into);
    ASSERT_TRUE(result) << result.error().text;
    ASSERT_TRUE(wanted.is_part_of(content_));
    longest = std::max(longest, std::chrono::duration_cast<milliseconds>(Clock::now() - begin));
  }
  std::printf("longest read: %lld ms\n", static_cast<long long>(longest.count()));
}

TEST_F(XrootdFile, AServerThatHangsIsGivenUpInTime) {
  const char* const process = std::getenv("TFILEFS_XROOTD_PROCESS");
  if (!process) GTEST_SKIP() << "TFILEFS_XROOTD_PROCESS does not name the server's process";
  const auto source = open_xrootd(url_, within(milliseconds(2'000)));
  ASSERT_TRUE(source);
  ASSERT_NO_FATAL_FAILURE(stop_all_threads(std::atoi(process)));
  Wanted wanted({{content_.size() / 2, 1000}});
  const auto begin = Clock::now();
  const auto result = (*source)->read(wanted.ranges, wanted.into);
  const auto took = Clock::now() - begin;
  const auto now = (*source)->identity_now();
  ::kill(std::atoi(process), SIGCONT);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::timed_out) << result.error().text;
  EXPECT_GT(took, milliseconds(1'500));
  EXPECT_LT(took, milliseconds(4'000));
  EXPECT_FALSE(now);
  // The server is there again.
  Wanted again({{content_.size() / 2, 1000}});
  const auto recovered = (*source)->read(again.ranges, again.into);
  ASSERT_TRUE(recovered) << recovered.error().text;
  EXPECT_TRUE(again.is_part_of(content_));
}

// Also if the file is another one of the same size: its date tells.
TEST_F(XrootdFile, AChangedFileIsStaleForGood) {
  const char* const served = std::getenv("TFILEFS_XROOTD_SERVED");
  if (!served) GTEST_SKIP() << "TFILEFS_XROOTD_SERVED does not name the server's copy";
  for (const std::string added : {"", "x"}) {
    RemoteOptions options;
    options.recheck = milliseconds(300);
    const auto source = open_xrootd(url_, options);
    ASSERT_TRUE(source);
    std::ofstream(std::string(served) + ".new", std::ios::binary)
        << std::string(content_.rbegin(), content_.rend()) << added;
    std::this_thread::sleep_for(milliseconds(1'100));  // dates are whole seconds
    std::filesystem::rename(std::string(served) + ".new", served);
    std::filesystem::last_write_time(served, std::filesystem::file_time_type::clock::now());
    Wanted wanted({{content_.size() / 2, 1000}});
    const auto result = (*source)->read(wanted.ranges, wanted.into);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::stale) << result.error().text;
    const auto now = (*source)->identity_now();
    ASSERT_TRUE(now);
    EXPECT_NE(*now, (*source)->identity());
    EXPECT_TRUE(now->is_same_object((*source)->identity()));

    std::ofstream(served, std::ios::binary) << content_;
    const auto later = (*source)->read(wanted.ranges, wanted.into);
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().kind, ErrorKind::stale);
    EXPECT_TRUE(open_xrootd(url_, {}));
  }
}

// A server gives the former file to all as long as one has it open. That must neither be an endless wait nor an error.
TEST_F(XrootdFile, AReplacedFileThatIsStillOpenIsRead) {
  const char* const served = std::getenv("TFILEFS_XROOTD_SERVED");
  if (!served) GTEST_SKIP() << "TFILEFS_XROOTD_SERVED does not name the server's copy";
  std::optional holder = open_xrootd(url_, {});
  ASSERT_TRUE(*holder);
  const std::string other(content_.size() + 7, 'x');
  std::ofstream(std::string(served) + ".new", std::ios::binary) << other;
  std::filesystem::rename(std::string(served) + ".new", served);
  const auto former = open_xrootd(url_, {});
  ASSERT_TRUE(former) << former.error().text;
  EXPECT_EQ((*former)->size(), content_.size());
  Wanted wanted({{content_.size() / 2, 1000}});
  const auto read = (*former)->read(wanted.ranges, wanted.into);
  ASSERT_TRUE(read) << read.error().text;
  EXPECT_TRUE(wanted.is_part_of(content_));
  holder.reset();
  const auto now = (*former)->identity_now();
  ASSERT_TRUE(now);
  EXPECT_EQ(now->size, other.size());
  // Until the server has closed the former file.
  for (const auto end = Clock::now() + std::chrono::seconds(20);;) {
    const auto present = open_xrootd(url_, {});
    ASSERT_TRUE(present);
    if ((*present)->size() == other.size()) break;
    const auto seen = (*present)->identity_now();
    ASSERT_TRUE(seen);
    EXPECT_NE(*seen, (*present)->identity());
    ASSERT_LT(Clock::now(), end);
  }
  std::ofstream(served, std::ios::binary) << content_;
}

// The last owner of the source goes while its reads are under way.
TEST_F(XrootdFile, ReadsOutliveTheirSource) {
  std::mt19937 random(7);
  for (int round = 0; round < 30; ++round) {
    std::vector<Wanted> wanted;
    for (int i = 0; i < 6; ++i) wanted.emplace_back(some_ranges(random, 100));
    std::mutex mutex;
    std::condition_variable arrived;
    std::size_t left = wanted.size(), failed = 0;
    {
      const auto source = open_xrootd(url_, {});
      ASSERT_TRUE(source);
      for (Wanted& each : wanted)
        (*source)->start_read(each.ranges, each.into, [&](const Result<>& result) {
          const std::lock_guard lock(mutex);
          if (!result) ++failed;
          if (--left == 0) arrived.notify_all();
        });
    }
    std::unique_lock lock(mutex);
    ASSERT_TRUE(arrived.wait_for(lock, std::chrono::seconds(30), [&] { return left == 0; }));
    EXPECT_EQ(failed, 0u);
    for (const Wanted& each : wanted) EXPECT_TRUE(each.is_part_of(content_));
  }
}

// The memory of a read that was stopped is freed at once. A sanitizer tells if an answer is still written to it.
TEST_F(XrootdFile, StoppedReadsLeaveTheirMemoryAlone) {
  std::mt19937 random(9);
  for (int round = 0; round < 40; ++round) {
    std::stop_source stop;
    RemoteOptions options;
    options.stop = stop.get_token();
    const auto source = open_xrootd(url_, options);
    ASSERT_TRUE(source);
    std::vector<std::thread> threads;
    for (unsigned seed = 0; seed < 4; ++seed)
      threads.emplace_back([&, seed] {
        std::mt19937 own(seed);
        for (;;) {
          Wanted wanted(some_ranges(own, 200));
          const auto result = (*source)->read(wanted.ranges, wanted.into);
          if (stop.stop_requested() && !result) return;
          if (!result || !wanted.is_part_of(content_)) std::abort();
          if (stop.stop_requested()) return;
        }
      });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    stop.request_stop();
    for (std::thread& thread : threads) thread.join();
  }
}

}  // namespace
}  // namespace tfile
