// SPDX-License-Identifier: Apache-2.0
#include "remote/http/byte_ranges.h"

#include <gtest/gtest.h>

#include <random>

namespace tfile {
namespace {

std::optional<ContentRange> parsed(std::string_view text) { return parse_content_range(text); }

TEST(ContentRange, TellsRangeAndWhole) {
  const auto range = parsed(" bytes 10-19/100");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->range, (ByteRange{10, 10}));
  EXPECT_EQ(range->whole, 100u);
  EXPECT_EQ(parsed("Bytes 0-0/*")->whole, std::nullopt);
  EXPECT_EQ(parsed("bytes */42")->whole, 42u);
  EXPECT_EQ(parsed("bytes */42")->range.size, 0u);
}

TEST(ContentRange, ThatEndsBehindTheFileIsCut) {
  EXPECT_EQ(parsed("bytes 0-4095/833")->range, (ByteRange{0, 833}));
  EXPECT_EQ(parsed("bytes 833-4095/833"), std::nullopt);
}

TEST(ContentRange, OfOtherFormsIsNone) {
  for (const char* text : {"", "bytes", "bytes 5", "bytes 5-", "bytes -5/9", "bytes 9-5/20", "bytes 0-1", "bytes 0-1/",
                           "bytes 0-1/2x", "bytes */*", "items 0-1/2", "bytes 0-99999999999999999999/5",
                           "bytes 0-18446744073709551615/*", "bytes 0-1/99999999999999999999"})
    EXPECT_FALSE(parsed(text)) << text;
}

TEST(RangeHeader, HasAllRanges) {
  const ByteRange ranges[] = {{0, 1}, {10, 90}};
  EXPECT_EQ(range_header(ranges), "bytes=0-0,10-99");
}

TEST(Boundary, IsThatOfTheContentType) {
  EXPECT_EQ(parse_boundary("multipart/byteranges; boundary=xyz"), "xyz");
  EXPECT_EQ(parse_boundary("multipart/byteranges;charset=a; Boundary=\"x; z\"; more=1"), "x; z");
  for (const std::string& without :
       {std::string("multipart/byteranges"), std::string("multipart/byteranges;"), std::string("a; boundary="),
        std::string("boundary=x"), "a; boundary=" + std::string(71, 'x')})
    EXPECT_EQ(parse_boundary(without), "") << without;
}

// The parts that a body confirms.
struct Parts {
  std::vector<std::pair<std::uint64_t, std::string>> taken;
  Result<> result;
};

// Feeds a body in pieces of `step` bytes.
Parts read_parts(std::string_view body, std::size_t step) {
  Parts parts;
  std::string part;
  MultipartReader reader(
      "xyz",
      [&](const ContentRange& of_part, std::uint64_t offset, std::span<const std::byte> bytes) {
        if (offset == of_part.range.begin) part.clear();
        part.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      },
      [&](const ContentRange& of_part) { parts.taken.emplace_back(of_part.range.begin, part); });
  for (; !body.empty() && parts.result; body.remove_prefix(std::min(step, body.size())))
    parts.result = reader.feed(std::as_bytes(std::span(body.substr(0, step))));
  if (parts.result) parts.result = reader.end();
  return parts;
}

using Taken = std::vector<std::pair<std::uint64_t, std::string>>;

TEST(Multipart, IsReadInPiecesOfEverySize) {
  constexpr std::string_view kBody =
      "--xyz\r\nContent-Type: text/plain\r\nContent-Range: bytes 7-9/20\r\n\r\nabc\r\n"
      "--xyz\r\ncontent-range:bytes 0-3/20\r\n\r\n\r\n--\r\n--xyz--\r\n";
  for (std::size_t step = 1; step <= kBody.size(); ++step) {
    const Parts parts = read_parts(kBody, step);
    ASSERT_TRUE(parts.result);
    ASSERT_EQ(parts.taken.size(), 2u) << step;
    EXPECT_EQ(parts.taken[0], (std::pair<std::uint64_t, std::string>(7, "abc")));
    EXPECT_EQ(parts.taken[1], (std::pair<std::uint64_t, std::string>(0, "\r\n--")));
  }
}

TEST(Multipart, ThatIsNoneIsRefused) {
  EXPECT_FALSE(read_parts(std::string(5000, 'x'), 100).result) << "a line without end";
  std::string page;
  for (int i = 0; i < 5000; ++i) page += "<p>error</p>  \n";
  EXPECT_FALSE(read_parts(page, 1000).result) << "lines without end";
  EXPECT_FALSE(read_parts("--xyz\nContent-Range: bytes 5-3/9\n\nabc", 10).result);
  EXPECT_FALSE(read_parts("--xyz\nContent-Range: bytes */9\n\nabc", 10).result);
  EXPECT_FALSE(read_parts("--xyz\nContent-Type: text/plain\n\nabc", 10).result) << "no range";
  EXPECT_FALSE(read_parts("--xyz\nContent-Range: bytes 0-1/9\nContent-Range: bytes 0-1/9\n\nabc", 10).result);
}

// A server writes "Content-Range: bytes 0-9/20" and sends a byte more, or less.
TEST(Multipart, CountsOnlyPartsThatEndWhereTheySay) {
  const std::string ends[] = {"\r\n", "\r\n\r\n"}, right = "0123456789";
  for (const std::string& end : ends)
    for (std::size_t size = 5; size <= 15; ++size)
      for (const std::size_t step : {1, 7, 1000}) {
        const std::string bytes = (right + right).substr(0, size);
        const std::string next = end + "--xyz\r\nContent-Range: bytes 10-11/20\r\n\r\nab" + end + "--xyz--";
        const Parts parts = read_parts(end + "--xyz\r\nContent-Range: bytes 0-9/20\r\n\r\n" + bytes + next, step);
        EXPECT_EQ(parts.result.has_value(), size == right.size()) << size;
        EXPECT_EQ(parts.taken, size == right.size() ? Taken({{0, right}, {10, "ab"}}) : Taken()) << size;
      }
}

TEST(Multipart, CountsNoPartWithoutItsBoundary) {
  const std::string part = "--xyz\r\nContent-Range: bytes 0-2/20\r\n\r\nabc";
  const Taken whole{{0, "abc"}};
  EXPECT_EQ(read_parts(part + "\r\n--xyz--", 3).taken, whole) << "no line end behind the last boundary";
  for (const char* behind : {"", "\r\n", "\r\n--xy", "\r\n--xyzz\r\n", "\n--xyz--\r\n", "--xyz--\r\n",
                             "\r\n\r\n--xyz--", "\r\nHTTP/1.1 500 Internal Server Error\r\n\r\n--xyz--"})
    EXPECT_EQ(read_parts(part + behind, 3).taken, Taken()) << behind;
}

TEST(Multipart, OfRandomBytesIsReadOrRefused) {
  std::mt19937 random(1);
  const std::string pieces[] = {"\r\n",     "\n", "--xyz", "\r\n--xyz\r\n", "Content-Range: bytes ", "0-9/10", "5-5/*",
                                "\r\n\r\n", "x",  ":"};
  for (int round = 0; round < 2000; ++round) {
    std::string body;
    for (int i = 0; i < 30; ++i) body += pieces[random() % std::size(pieces)];
    for (const auto& [offset, bytes] : read_parts(body, 1 + random() % 7).taken) EXPECT_LE(offset + bytes.size(), 10u);
  }
}

TEST(WantedPieces, AreFilledFromPartsInAnyOrder) {
  std::vector<std::byte> file(100), a(10), b(30), c(5);
  for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<std::byte>(i);
  WantedPieces pieces({{{50, 30}, b}, {{10, 10}, a}, {{60, 5}, c}});
  EXPECT_EQ(pieces.missing(), (std::vector<ByteRange>{{10, 10}, {50, 30}}));
  EXPECT_EQ(pieces.end(), 80u);
  EXPECT_EQ(pieces.take(55, std::span(file).subspan(55, 10)), 5u) << "of b what comes before is missing";
  EXPECT_EQ(pieces.take(0, std::span(file).first(60)), 20u);
  EXPECT_EQ(pieces.missing(), (std::vector<ByteRange>{{60, 20}}));
  EXPECT_EQ(pieces.take(60, std::span(file).subspan(60)), 20u);
  EXPECT_TRUE(pieces.are_filled());
  EXPECT_EQ(pieces.end(), 0u);
  EXPECT_TRUE(std::equal(a.begin(), a.end(), file.begin() + 10));
  EXPECT_TRUE(std::equal(b.begin(), b.end(), file.begin() + 50));
  EXPECT_TRUE(std::equal(c.begin(), c.end(), file.begin() + 60));
}

TEST(WantedPieces, CountWhatIsConfirmed) {
  std::vector<std::byte> file(100), a(10), b(10);
  for (std::size_t i = 0; i < file.size(); ++i) file[i] = static_cast<std::byte>(i);
  WantedPieces pieces({{{10, 10}, a, 0}, {{30, 10}, b, 1}});
  EXPECT_EQ(pieces.put(0, std::span(file).first(35)), 15u);
  EXPECT_EQ(pieces.missing(), (std::vector<ByteRange>{{10, 10}, {30, 10}}));
  EXPECT_EQ(pieces.confirm({0, 35}), 15u);
  EXPECT_EQ(pieces.take_whole(), (std::vector<std::size_t>{0}));
  const std::vector<std::byte> other(100, std::byte{255});
  EXPECT_EQ(pieces.put(0, other), 5u) << "what counts is not written over";
  EXPECT_EQ(pieces.missing(), (std::vector<ByteRange>{{35, 5}}));
  EXPECT_TRUE(std::equal(a.begin(), a.end(), file.begin() + 10));
  EXPECT_TRUE(std::equal(b.begin(), b.begin() + 5, file.begin() + 30));
}

TEST(WantedPieces, TellWhichReadsAreWhole) {
  std::vector<std::byte> file(100), a(10), b(10), c(10);
  WantedPieces pieces({{{0, 10}, a, 1}, {{10, 10}, b, 0}, {{30, 10}, c, 1}});
  EXPECT_EQ(pieces.missing(), (std::vector<ByteRange>{{0, 20}, {30, 10}})) << "reads share a range";
  pieces.take(0, std::span(file).first(15));
  EXPECT_TRUE(pieces.take_whole().empty());
  pieces.take(15, std::span(file).subspan(15, 5));
  EXPECT_EQ(pieces.take_whole(), (std::vector<std::size_t>{0}));
  EXPECT_TRUE(pieces.take_whole().empty()) << "told once";
  pieces.take(30, std::span(file).subspan(30));
  EXPECT_EQ(pieces.take_whole(), (std::vector<std::size_t>{1}));
}

TEST(WantedPieces, TakeRandomPartsOfAFile) {
  std::mt19937 random(2);
  std::vector<std::byte> file(1000);
  for (std::byte& byte : file) byte = static_cast<std::byte>(random());
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<std::byte>> memory;
    std::vector<WantedPieces::Piece> wanted;
    for (int i = 0; i < 10; ++i) {
      const std::uint64_t begin = random() % 1000, size = random() % std::min<std::uint64_t>(100, 1001 - begin);
      memory.emplace_back(size);
      wanted.push_back({{begin, size}, memory.back()});
    }
    WantedPieces pieces(wanted);
    while (!pieces.are_filled()) {
      const auto missing = pieces.missing();
      const ByteRange one = missing[random() % missing.size()];
      const std::uint64_t begin = one.begin - random() % (one.begin + 1), end = one.begin + random() % (one.size + 1);
      pieces.take(begin, std::span(file).subspan(begin, end - begin));
      if (end == one.begin) pieces.take(one.begin, std::span(file).subspan(one.begin, 1));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_TRUE(std::ranges::equal(memory[i], std::span(file).subspan(wanted[i].range.begin, wanted[i].range.size)));
  }
}

}  // namespace
}  // namespace tfile
