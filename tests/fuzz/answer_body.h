// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "fuzz/stream_body.h"
#include "remote/http/byte_ranges.h"

namespace tfile::fuzz {

// A body of several ranges as a server may send it, with the ranges that were asked for. Input: sizes of the pieces in
// which the body arrives (u1), of gaps between wanted ranges (u1), of wanted ranges (u1); then the body.
class AnswerOfBytes {
 public:
  explicit AnswerOfBytes(std::span<const std::byte> input) {
    if (input.size() < 3) return;
    const auto piece = std::to_integer<std::size_t>(input[0]) + 1;
    want(std::to_integer<std::uint64_t>(input[1]), std::to_integer<std::uint64_t>(input[2]) + 1);
    body_ = input.subspan(3);
    const std::vector<Part> whole = parts_in(body_.size() + 1), pieces = parts_in(piece);
    require(whole == pieces, "a body is the same however it arrives");
    take(whole);
    const std::string_view text(reinterpret_cast<const char*>(body_.data()), body_.size());
    if (const auto range = parse_content_range(text)) require_sane(*range);
  }

 private:
  struct Part {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
    bool operator==(const Part&) const = default;
  };

  static void require_sane(const ContentRange& range) {
    require(range.range.size <= UINT64_MAX - range.range.begin, "a range ends somewhere");
    require(!range.whole || range.range.end() <= *range.whole || range.range.size == 0, "a range lies in its file");
  }

  void want(std::uint64_t gap, std::uint64_t size) {
    places_.resize(4, std::vector<std::byte>(size));
    std::uint64_t begin = gap;
    for (std::vector<std::byte>& place : places_) {
      wanted_.push_back({{begin, size}, place});
      begin += size + gap;
    }
  }

  // What the body's parts have that are confirmed.
  std::vector<Part> parts_in(std::size_t piece) const {
    std::vector<Part> parts;
    Part part;
    const auto take = [&](const ContentRange& of, std::uint64_t offset, std::span<const std::byte> bytes) {
      require_sane(of);
      require(offset >= of.range.begin && offset + bytes.size() <= of.range.end(), "bytes of a part lie in its range");
      if (offset == of.range.begin) part = {offset, {}};
      part.bytes.insert(part.bytes.end(), bytes.begin(), bytes.end());
    };
    const auto confirm = [&](const ContentRange& of) {
      require(part.offset == of.range.begin && part.bytes.size() == of.range.size, "a part that counts is whole");
      parts.push_back(part);
    };
    MultipartReader reader("123456", take, confirm);
    for (std::size_t at = 0; at < body_.size(); at += piece)
      if (!reader.feed(body_.subspan(at, std::min(piece, body_.size() - at)))) return parts;
    (void)reader.end();
    return parts;
  }

  void take(const std::vector<Part>& parts) {
    WantedPieces pieces(wanted_);
    const std::uint64_t all = missing_in(pieces);
    std::uint64_t fresh = 0;
    for (const Part& part : parts) fresh += pieces.take(part.offset, part.bytes);
    require(missing_in(pieces) + fresh == all, "bytes are new once");
    require(pieces.are_filled() == (fresh == all), "what is filled misses nothing");
  }

  static std::uint64_t missing_in(const WantedPieces& pieces) {
    std::uint64_t sum = 0;
    for (const ByteRange range : pieces.missing()) sum += range.size;
    return sum;
  }

  std::span<const std::byte> body_;
  std::vector<std::vector<std::byte>> places_;
  std::vector<WantedPieces::Piece> wanted_;
};

inline void answer_body(std::span<const std::byte> input) { AnswerOfBytes{input}; }

}  // namespace tfile::fuzz
