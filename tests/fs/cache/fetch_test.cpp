// SPDX-License-Identifier: Apache-2.0
#include "cache/fetch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <stdexcept>

#include "tfile/forwarding_source.h"

namespace tfilefs {
namespace {

// What each wish got. A wish is answered once.
struct Told : FetchSink {
  void fail(std::size_t id, const Error& error) override {
    const Lock lock(mutex);
    errors[id] = error.text;
  }
  void take(const FetchedPart& part) override {
    const Lock lock(mutex);
    for (std::size_t i = 0; i < part.ranges.size(); ++i) {
      for (const FetchWish& wish : part.ranges[i].wishes) {
        ++answers[wish.id];
        if (!part.bytes.empty())
          first_bytes[wish.id] = part.bytes[i]->bytes.span()[wish.range.begin - part.ranges[i].range.begin];
      }
    }
  }
  Mutex mutex{"Told::mutex"};
  std::map<std::size_t, int> answers;
  std::map<std::size_t, std::string> errors;
  std::map<std::size_t, std::byte> first_bytes;
};

// Byte n of it is n.
class Numbers : public tfile::Source {
 public:
  const tfile::Identity& identity() const override { return identity_; }
  Result<tfile::Identity> identity_now() const override { return identity_; }
  const std::string& name() const override { return name_; }
  tfile::SourceTraits traits() const override {
    tfile::SourceTraits traits;
    traits.starts_reads = starts;
    traits.requests_max = traits.ranges_max = 2;
    return traits;
  }
  Result<std::shared_ptr<const Source>> sibling(std::string_view) const override {
    return tfile::fail(ErrorKind::not_found, "none");
  }
  Result<> read(std::span<const tfile::ByteRange> ranges, std::span<const std::span<std::byte>> into) const override {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].begin <= bad && bad < ranges[i].end()) return tfile::fail(ErrorKind::io, "bad place");
      for (std::size_t n = 0; n < into[i].size(); ++n) into[i][n] = static_cast<std::byte>(ranges[i].begin + n);
    }
    return {};
  }
  void start_reads(std::vector<Started> reads) const override {
    if (started++ == throws_at) throw std::runtime_error("thrown");
    for (Started& one : reads)
      if (one.ranges.front().begin != drops) one.done(read(one.ranges, one.into));
  }
  bool starts = false;
  std::uint64_t bad = UINT64_MAX, drops = UINT64_MAX;
  int throws_at = -1;
  mutable std::atomic<int> started = 0;

 private:
  tfile::Identity identity_ = [] {
    tfile::Identity identity;
    identity.size = 1 << 20;
    return identity;
  }();
  std::string name_ = "numbers";
};

class Fetch : public testing::Test {
 protected:
  // Ten wishes of ten bytes, each a range of its own.
  Fetch() {
    std::vector<FetchWish> wishes;
    for (std::size_t i = 0; i < 10; ++i) wishes.push_back({&source, {20 * i, 10}, i});
    plan = plan_fetch(std::move(wishes),
                      [](const tfile::Source&) { return tfile::JoinLimits{.gap_max = 0, .gap_free = 0}; });
  }
  void run() {
    const auto sink = std::make_shared<Told>();
    fetch(exec, {plan, Urgency::awaited, false}, budget->take(planned_bytes(plan)), sink);
    exec.stop();
    told = sink;
    EXPECT_EQ(told->answers.size(), 10u);
    for (const auto& [id, times] : told->answers) EXPECT_EQ(times, 1) << id;
  }
  void has_bytes_but_of(const std::vector<std::size_t>& failed) const {
    for (std::size_t id = 0; id < 10; ++id) {
      const bool fails = std::ranges::find(failed, id) != failed.end();
      EXPECT_EQ(told->errors.contains(id), fails) << id;
      if (!fails) {
        EXPECT_EQ(told->first_bytes[id], static_cast<std::byte>(20 * id)) << id;
      }
    }
  }

  Executors exec{2, 2, 1};
  const std::shared_ptr<Budget> budget = std::make_shared<Budget>(1 << 20);
  Numbers source;
  std::vector<FetchRange> plan;
  std::shared_ptr<Told> told;
};

TEST_F(Fetch, ThreadsReadALocalFile) {
  run();
  has_bytes_but_of({});
}

TEST_F(Fetch, ABadPlaceFailsItsWishAlone) {
  source.bad = 43;
  run();
  has_bytes_but_of({2});
}

TEST_F(Fetch, StoppedThreadsReadNothing) {
  exec.stop();
  run();
  EXPECT_EQ(told->errors.size(), 10u);
  EXPECT_EQ(told->errors[0], no_thread().value().text);
}

TEST_F(Fetch, AServerAnswersEachRequest) {
  source.starts = true;
  run();
  has_bytes_but_of({});
  EXPECT_EQ(source.started, 5);
}

TEST_F(Fetch, ADroppedReadFailsAndTheNextIsStarted) {
  source.starts = true;
  source.drops = 40;
  run();
  EXPECT_FALSE(told->errors.empty());
  EXPECT_FALSE(told->errors.contains(9));
  EXPECT_EQ(source.started, 5);
}

TEST_F(Fetch, ARequestThatThrowsFailsAloneAndMemoryComesBack) {
  source.starts = true;
  source.throws_at = 1;
  run();
  has_bytes_but_of({2, 3});
  told.reset();
  EXPECT_EQ(budget->used(), 0u);
}

TEST_F(Fetch, AfterTheEndNothingIsStarted) {
  source.starts = true;
  exec.stop();
  run();
  EXPECT_EQ(source.started, 0);
  EXPECT_EQ(told->errors.size(), 10u);
}

}  // namespace
}  // namespace tfilefs
