// SPDX-License-Identifier: Apache-2.0
// source_read URL [STREAMS]: opens a file, and reads all of it in requests as a column is read: each is cut into parts,
// whose memory is given back as soon as they are there. Prints the seconds of the reading, without the opening, the
// number of bytes, and a sum over one byte of each page, so that two runs can be compared.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/source.h"

namespace {

using tfile::Source;

// Takes requests until the file has come.
class Reading {
 public:
  Reading(const Source& source, std::size_t at_once)
      : source_(source), traits_(source.traits()), at_once_(std::max<std::size_t>(1, at_once)) {}

  bool run() {
    for (std::size_t i = 0; i < at_once_; ++i) start_next();
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return running_ == 0; });
    return !failed_;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  // The next request, in parts of which each is told by itself.
  std::vector<tfile::ByteRange> next_parts() {
    std::vector<tfile::ByteRange> parts;
    const std::uint64_t part = traits_.answer_bytes > 0 ? traits_.answer_bytes : 8 << 20;
    const std::uint64_t end = std::min(source_.size(), next_ + traits_.request_max);
    for (; next_ < end; next_ = parts.back().end()) parts.push_back({next_, std::min(part, end - next_)});
    return parts;
  }

  void start_next() {
    std::vector<tfile::ByteRange> parts;
    {
      const std::lock_guard lock(mutex_);
      parts = next_parts();
      running_ += parts.empty() ? 0 : 1;
    }
    if (parts.empty()) return;
    const auto left = std::make_shared<std::atomic<std::size_t>>(parts.size());
    std::vector<Source::Started> reads;
    for (const tfile::ByteRange range : parts) {
      auto bytes = std::make_shared<tfile::Buffer>(range.size, tfile::Use::passing);
      const std::span<std::byte> into = bytes->span();
      reads.push_back({{range}, {into}, [this, left, bytes = std::move(bytes)](const tfile::Result<>& result) mutable {
                         take(*bytes, result);
                         bytes.reset();
                         if (--*left == 0) end_request();
                       }});
    }
    source_.start_reads(std::move(reads));
  }

  void take(const tfile::Buffer& bytes, const tfile::Result<>& result) {
    if (!result) std::fprintf(stderr, "%s\n", result.error().text.c_str());
    if (!result) failed_ = true;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); i += 4096) sum += static_cast<std::uint64_t>(bytes.span()[i]);
    sum_ += sum;
  }

  void end_request() {
    start_next();
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) ended_.notify_one();
  }

  const Source& source_;
  const tfile::SourceTraits traits_;
  const std::size_t at_once_;
  std::atomic<std::uint64_t> sum_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::uint64_t next_ = 0;
  std::size_t running_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const auto source = tfile::open_source(arguments[1]);
  if (!source) {
    std::fprintf(stderr, "%s\n", source.error().text.c_str());
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t most = (*source)->traits().requests_max;
  Reading reading(**source, count > 2 ? static_cast<std::size_t>(std::atoi(arguments[2])) : most);
  if (!reading.run()) return 1;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f %llu %llu\n", seconds.count(), static_cast<unsigned long long>((*source)->size()),
              static_cast<unsigned long long>(reading.sum()));
  return 0;
}
