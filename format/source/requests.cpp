// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <string>

#include "tfile/beyond_end.h"
#include "tfile/mutex.h"
#include "tfile/request.h"

namespace tfile {
namespace {

// Lives until the last answer has been noted, which may be after the wait has ended.
struct Answers {
  explicit Answers(std::size_t awaited) : left(awaited) {}

  Mutex mutex{"Answers::mutex", "", "a read"};
  Condition all;
  std::size_t left GUARDED_BY(mutex);
};

}  // namespace

Result<> check_range(const Source& source, ByteRange range) {
  if (!is_beyond_end(range, source.size())) return {};
  return fail(ErrorKind::damaged,
              source.name() + ": " + std::to_string(range.size) + " bytes requested at " + std::to_string(range.begin) +
                  ", the file has " + std::to_string(source.size()) + " bytes",
              static_cast<std::int64_t>(std::min<std::uint64_t>(range.begin, INT64_MAX)));
}

bool JoinedRange::add(ByteRange next, const JoinLimits& limits) {
  if (next.end() <= range_.end()) return true;
  const std::uint64_t from = std::max(range_.end(), next.begin), gap = from - range_.end(), more = next.end() - from;
  const bool is_near = gap <= limits.gap_max && (gap <= limits.gap_free || unwanted_ + gap <= wanted_ + more);
  if (!is_near || next.end() - range_.begin > limits.range_max) return false;
  range_.size = next.end() - range_.begin;
  wanted_ += more;
  if (gap > limits.gap_free) unwanted_ += gap;
  return true;
}

void read_requests(std::span<ReadRequest> requests) {
  auto answers = std::make_shared<Answers>(requests.size());
  for (ReadRequest& request : requests) {
    request.source->start_read(request.ranges, request.into, [answers, &request](Result<> result) {
      const Lock lock(answers->mutex);
      request.result = std::move(result);
      if (--answers->left == 0) answers->all.notify_one();
    });
  }
  const Lock lock(answers->mutex);
  while (answers->left > 0) answers->all.wait(answers->mutex);
}

void Source::start_reads(std::vector<Started> reads) const {
  for (Started& read : reads) start_alone(*this, std::move(read));
}

void start_alone(const Source& source, Source::Started read) {
  const auto one = std::make_shared<const Source::Started>(std::move(read));
  source.start_read(one->ranges, one->into, [one](Result<> result) { one->done(std::move(result)); });
}

std::vector<Source::Started> one_read(std::span<const ByteRange> ranges, std::span<const std::span<std::byte>> into,
                                      Source::ReadDone done) {
  std::vector<Source::Started> one;
  one.push_back({{ranges.begin(), ranges.end()}, {into.begin(), into.end()}, std::move(done)});
  return one;
}

Result<> start_and_wait(const Source& source, std::span<const ByteRange> ranges,
                        std::span<const std::span<std::byte>> into) {
  ReadRequest request{&source, {ranges.begin(), ranges.end()}, {into.begin(), into.end()}, {}};
  read_requests({&request, 1});
  return std::move(request.result);
}

}  // namespace tfile
