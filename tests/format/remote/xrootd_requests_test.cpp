// SPDX-License-Identifier: Apache-2.0
#include "remote/xrootd/xrootd_requests.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "remote/xrootd/xrootd_servers.h"

namespace tfile {
namespace {

using Ranges = std::vector<ByteRange>;

const XrootdLimits kSmallLimits{4, 10, 30};

std::string content(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>('a' + (i * i + i / 7) % 26);
  return bytes;
}

// What readers get if the server answers each request.
std::vector<std::string> answered(const std::vector<XrootdRequest>& requests, const Ranges& ranges,
                                  const std::string& file) {
  std::vector<std::string> into;
  for (const ByteRange& range : ranges) into.emplace_back(range.size, '?');
  for (const XrootdRequest& request : requests) {
    std::string answer;
    for (const auto& [begin, size] : request.chunks) answer += file.substr(begin, size);
    EXPECT_EQ(answer.size(), request.size);
    for (const auto& [from, range, place, size] : request.copies) into[range].replace(place, size, answer, from, size);
  }
  return into;
}

void expect_within(const std::vector<XrootdRequest>& requests, const XrootdLimits& limits) {
  std::uint64_t end = 0;
  bool first = true;
  for (const XrootdRequest& request : requests) {
    EXPECT_LE(request.chunks.size(), limits.chunks_max);
    EXPECT_LE(request.size, limits.request_max);
    for (const ByteRange& chunk : request.chunks) {
      EXPECT_GT(chunk.size, 0u);
      EXPECT_TRUE(request.chunks.size() == 1 || chunk.size <= limits.chunk_max);
      EXPECT_TRUE(first || chunk.begin >= end) << "a byte is read twice, or not in order";
      end = chunk.end();
      first = false;
    }
  }
}

TEST(XrootdRequests, ManySmallRangesFillVectors) {
  const Ranges ranges{{0, 2}, {10, 2}, {20, 2}, {30, 2}, {40, 2}};
  const auto requests = xrootd_requests(ranges, kSmallLimits);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].chunks, (Ranges{{0, 2}, {10, 2}, {20, 2}, {30, 2}}));
  EXPECT_EQ(requests[1].chunks, (Ranges{{40, 2}}));
}

TEST(XrootdRequests, VectorsAreNoLongerThanARequest) {
  const auto requests = xrootd_requests(Ranges{{0, 10}, {20, 10}, {40, 10}, {60, 10}}, kSmallLimits);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].size, 30u);
}

TEST(XrootdRequests, LongRangesAreReadsOfTheirOwn) {
  const auto requests = xrootd_requests(Ranges{{0, 2}, {100, 65}, {200, 2}, {210, 2}}, kSmallLimits);
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].chunks, (Ranges{{0, 2}}));
  EXPECT_EQ(requests[1].chunks, (Ranges{{100, 30}}));
  EXPECT_EQ(requests[2].chunks, (Ranges{{130, 30}}));
  EXPECT_EQ(requests[3].chunks, (Ranges{{160, 5}, {200, 2}, {210, 2}}));  // the rest travels with others
}

TEST(XrootdRequests, NoChunkIsLongerThanARequest) {
  const auto requests = xrootd_requests(Ranges{{0, 65}}, {4, 1000, 30});
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].size, 30u);
}

// The client library takes a chunk that is there twice for one that the server has left out.
TEST(XrootdRequests, EqualAndTouchingRangesAreReadOnce) {
  const Ranges ranges{{50, 4}, {10, 5}, {10, 5}, {12, 2}, {15, 5}, {8, 4}};
  const auto requests = xrootd_requests(ranges, {4, 100, 300});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].chunks, (Ranges{{8, 12}, {50, 4}}));
  const std::string file = content(60);
  const auto got = answered(requests, ranges, file);
  for (std::size_t i = 0; i < ranges.size(); ++i) EXPECT_EQ(got[i], file.substr(ranges[i].begin, ranges[i].size));
}

TEST(XrootdRequests, AreAsLargeAsTheLineBringsInTime) {
  using std::chrono::seconds;
  EXPECT_EQ(xrootd_request_max(100'000'000, seconds(60)), kXrootdRequestMax);
  EXPECT_EQ(xrootd_request_max(400'000, seconds(60)), 3'000'000u);
  EXPECT_EQ(xrootd_request_max(400'000, seconds(4)), kXrootdRequestMin);
  EXPECT_EQ(xrootd_request_max(UINT64_MAX, seconds(86'400)), kXrootdRequestMax);
}

TEST(XrootdRequests, EmptyRangesTakeNone) {
  EXPECT_TRUE(xrootd_requests(Ranges{}, kSmallLimits).empty());
  EXPECT_TRUE(xrootd_requests(Ranges{{5, 0}, {7, 0}}, kSmallLimits).empty());
  EXPECT_EQ(xrootd_requests(Ranges{{5, 0}, {5, 1}}, kSmallLimits).size(), 1u);
}

TEST(XrootdRequests, AnyRangesAreFilled) {
  std::mt19937 random(1);
  const std::string file = content(2000);
  for (int round = 0; round < 500; ++round) {
    const XrootdLimits limits{1 + random() % 8, 1 + random() % 40, 40 + random() % 100};
    Ranges ranges;
    for (std::size_t i = random() % 40; i > 0; --i) {
      const std::uint64_t begin = random() % file.size();
      ranges.push_back(
          {begin, random() % (random() % 4 == 0 ? file.size() - begin + 1 : 20) % (file.size() - begin + 1)});
    }
    const auto requests = xrootd_requests(ranges, limits);
    expect_within(requests, limits);
    const auto got = answered(requests, ranges, file);
    for (std::size_t i = 0; i < ranges.size(); ++i)
      ASSERT_EQ(got[i], file.substr(ranges[i].begin, ranges[i].size)) << i;
  }
}

TEST(XrootdTurn, AnswersToEarlierRequestsTellThatItIsStillToCome) {
  const auto server = xrootd_server("turns.example.org:1094");
  const LineSpeed::Time never{};
  const LineSpeed::Sent before = server->sent();
  XrootdTurn turn(*server);
  turn.sent(before.at + std::chrono::seconds(1));
  const LineSpeed::Sent behind{before.at + std::chrono::seconds(2), false};
  server->answered(behind, 10);
  EXPECT_EQ(turn.last_before(), never) << "others are answered, and this one is not";
  server->answered(before, 10);
  EXPECT_GE(turn.last_before(), before.at);
}

TEST(XrootdLimits, AreTheServersIfTheyMakeSense) {
  const XrootdLimits own;
  const XrootdLimits told = xrootd_limits("2048\n1048576\n", own);
  EXPECT_EQ(told.chunks_max, 2048u);
  EXPECT_EQ(told.chunk_max, 1048576u);
  for (const char* const answer : {"", "readv_iov_max\nreadv_ior_max\n", "0\n0", "1\n1", "-1\n-1", "\n\n"}) {
    EXPECT_EQ(xrootd_limits(answer, own).chunks_max, own.chunks_max) << answer;
    EXPECT_EQ(xrootd_limits(answer, own).chunk_max, own.chunk_max) << answer;
  }
  EXPECT_EQ(xrootd_limits("16", own).chunks_max, 16u);
  EXPECT_LE(xrootd_limits("99999999999\n99999999999", own).chunk_max, 1u << 30);
}

}  // namespace
}  // namespace tfile
