// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// What a Content-Range header says (RFC 9110, section 14.4). A file's whole size may be left out by a server.
struct ContentRange {
  ByteRange range;  // of size 0: the request could not be satisfied
  std::optional<std::uint64_t> whole;
};
// "bytes 0-99/1234", "bytes 0-99/*" or "bytes */1234"; nothing if it is none of these or contradicts itself. Pure.
std::optional<ContentRange> parse_content_range(std::string_view);

// The value of a Range header: "bytes=0-99,200-299". Pure.
std::string range_header(std::span<const ByteRange>);

// Reads a body of multipart/byteranges (RFC 9110, section 14.6) as it arrives. Each part tells its range in the file,
// so neither the order of the parts nor the boundary between them matters: lines are skipped until one is a
// Content-Range, the part's bytes follow its empty line. Not thread-safe.
class MultipartReader {
 public:
  using Take = std::function<void(const ContentRange& of_part, std::uint64_t offset, std::span<const std::byte>)>;
  explicit MultipartReader(Take take) : take_(std::move(take)) {}

  // Calls `take` for the bytes of parts, with their offset in the file. Error: damaged, if this cannot be such a body.
  Result<> feed(std::span<const std::byte>);

 private:
  Result<> end_line();

  const Take take_;
  std::string line_;
  std::size_t skipped_ = 0;           // bytes since the last part
  std::optional<ContentRange> part_;  // whose header is read, or whose bytes are
  std::uint64_t left_ = 0;            // bytes of the part that are still to come
};

// The bytes that reads want, filled in whatever order answers bring them. Not thread-safe.
class WantedPieces {
 public:
  struct Piece {
    ByteRange range;
    std::span<std::byte> into;
    std::size_t read = 0;      // that wants it
    std::uint64_t filled = 0;  // bytes from its beginning on; what comes out of order is asked for again
  };
  explicit WantedPieces(std::vector<Piece>);  // in any order; they may overlap

  // Bytes of the file from `offset` on. Returns how many of them were new.
  std::uint64_t take(std::uint64_t offset, std::span<const std::byte>);

  // The reads all of whose pieces were filled since the last call.
  std::vector<std::size_t> take_whole() { return std::exchange(whole_, {}); }

  // What is still missing, sorted, with ranges that touch joined.
  std::vector<ByteRange> missing() const;
  bool are_filled() const;
  // The end of the last missing byte; 0 if none is missing.
  std::uint64_t end() const;

 private:
  std::vector<Piece> pieces_;       // by address
  std::size_t first_ = 0;           // all before it are filled
  std::vector<std::size_t> left_;   // of each read: pieces that are not filled
  std::vector<std::size_t> whole_;  // reads
};

}  // namespace tfile
