// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tfilefs {

// The kinds of the kernel's requests, as the metrics tell them.
enum class RequestKind : std::uint8_t {
  lookup,
  getattr,
  open,  // of a directory, too
  read,
  readdir,
  xattr,  // read or listed
  write,
  flush,
  fsync,
  change,  // of names and attributes
  lock,
  other,
};
// In the order of the kinds.
inline constexpr auto kRequestKinds = std::to_array<std::string_view>(
    {"lookup", "getattr", "open", "read", "readdir", "xattr", "write", "flush", "fsync", "change", "lock", "other"});

// How long requests took: a histogram for each kind. Adding takes no lock, and threads that add at the same time seldom
// share a cache line: each adds to one of a few copies, and a report is their sum.
class RequestTimes {
  using Time = std::chrono::nanoseconds;

 public:
  // Each bound is about three times the one before: from what an answer from memory takes to the time for which a
  // server may be silent (-o timeout=).
  static constexpr auto kBounds = [] {
    using namespace std::chrono_literals;
    return std::to_array<Time>({10us, 30us, 100us, 300us, 1ms, 3ms, 10ms, 30ms, 100ms, 300ms, 1s, 3s, 10s, 60s});
  }();

  struct Histogram {
    std::array<std::uint64_t, kBounds.size() + 1> counts{};  // of those up to each bound and above the one before
    std::uint64_t sum_ns = 0;
    std::uint64_t count() const;
  };
  using Report = std::array<Histogram, kRequestKinds.size()>;

  void add(RequestKind, Time);
  Report report() const;

 private:
  static constexpr std::size_t kCopies = 8;
  struct Counted {
    std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> counts{};
    std::atomic<std::uint64_t> sum_ns = 0;
  };
  struct alignas(64) Copy {
    std::array<Counted, kRequestKinds.size()> kinds;
  };
  static std::size_t own_copy();

  std::array<Copy, kCopies> copies_;
};

// Times one request, from here to stop().
class RequestClock {
  using Clock = std::chrono::steady_clock;

 public:
  RequestClock(RequestTimes& times, RequestKind kind) : times_(times), kind_(kind) {}
  void stop() const { times_.add(kind_, Clock::now() - begin_); }
  Clock::time_point begin() const { return begin_; }

 private:
  RequestTimes& times_;
  const RequestKind kind_;
  const Clock::time_point begin_ = Clock::now();
};

}  // namespace tfilefs
