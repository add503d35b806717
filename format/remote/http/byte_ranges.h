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

// A Content-Range header (RFC 9110, section 14.4). A file's whole size may be left out by a server.
struct ContentRange {
  ByteRange range;  // of size 0: the request could not be satisfied
  std::optional<std::uint64_t> whole;
  bool operator==(const ContentRange&) const = default;
};
// "bytes 0-99/1234", "bytes 0-99/*" or "bytes */1234"; nothing if it is none of these or contradicts itself. Pure.
std::optional<ContentRange> parse_content_range(std::string_view);

// The boundary that a Content-Type header names for its parts: "multipart/byteranges; boundary=THIS". Empty: it names
// none, or one that RFC 2046 (section 5.1.1) does not allow. Pure.
std::string parse_boundary(std::string_view content_type);

// The value of a Range header: "bytes=0-99,200-299". Pure.
std::string range_header(std::span<const ByteRange>);

// Reads a body of multipart/byteranges (RFC 9110, section 14.6) as it arrives. Each part tells its range in the file,
// so the order of the parts does not matter. But a part may have more or fewer bytes than it says, and then the bytes
// of the next boundary would be taken for data. So a part only counts once a boundary follows exactly where its range
// ends. Not thread-safe.
class MultipartReader {
 public:
  using Take = std::function<void(const ContentRange& of_part, std::uint64_t offset, std::span<const std::byte>)>;
  using Confirm = std::function<void(const ContentRange& of_part)>;
  MultipartReader(std::string_view boundary, Take take, Confirm confirm)
      : boundary_("--" + std::string(boundary)), take_(std::move(take)), confirm_(std::move(confirm)) {}

  // Calls `take` for the bytes of parts, with their offset in the file, and `confirm` when all of a part came, with a
  // boundary behind it. Error: damaged, if this cannot be such a body; what is not confirmed by then is not to be used.
  Result<> feed(std::span<const std::byte>);
  // The body has ended. Its last boundary needs no line end.
  Result<> end();

  // Whether the bytes of a part have begun to come, and are not confirmed.
  bool is_in_part() const { return state_ == State::data || state_ == State::behind_part; }

 private:
  enum class State : std::uint8_t { preamble, head, data, behind_part, epilogue };
  Result<> end_line();
  Result<> take_head_line(std::string_view line);
  Result<> take_line_behind_part(std::string_view line);
  bool take_boundary(std::string_view line);

  const std::string boundary_;  // with the hyphens before it
  const Take take_;
  const Confirm confirm_;
  State state_ = State::preamble;
  std::string line_;
  std::size_t skipped_ = 0;           // bytes since the last part
  std::optional<ContentRange> part_;  // whose head is read, or whose bytes are
  std::uint64_t left_ = 0;            // bytes of the part that are still to come
  std::size_t ends_before_ = 0;       // line ends directly before the first boundary
  std::size_t ends_behind_ = 0;       // behind the bytes of the part
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

  // The same in two steps: put() copies bytes to where they are missing, which stay missing until confirm() is called
  // for a range whose bytes were all put. Returns how many there was a place for; how many were new.
  std::uint64_t put(std::uint64_t offset, std::span<const std::byte>);
  std::uint64_t confirm(ByteRange);

  // The reads all of whose pieces were filled since the last call.
  std::vector<std::size_t> take_whole() { return std::exchange(whole_, {}); }

  // The ranges that are still missing, sorted, with ranges that touch joined.
  std::vector<ByteRange> missing() const;
  bool are_filled() const;
  // The end of the last missing byte; 0 if none is missing.
  std::uint64_t end() const;

 private:
  std::uint64_t fill(Piece&, ByteRange);

  std::vector<Piece> pieces_;       // by address
  std::size_t first_ = 0;           // all before it are filled
  std::vector<std::size_t> left_;   // of each read: pieces that are not filled
  std::vector<std::size_t> whole_;  // reads
};

}  // namespace tfile
