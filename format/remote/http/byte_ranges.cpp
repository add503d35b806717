// SPDX-License-Identifier: Apache-2.0
#include "remote/http/byte_ranges.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

namespace tfile {
namespace {

// Header lines of a part are short; servers add Content-Type, and XRootD an empty line.
constexpr std::size_t kLineMax = 4096;
// A body that has so many bytes between two parts is something else, a page that tells an error for example.
constexpr std::size_t kSkippedMax = 64 << 10;
// XRootD 5 has one line end more than it should before each boundary.
constexpr std::size_t kLineEndsMax = 2;
// RFC 2046, section 5.1.1.
constexpr std::size_t kBoundaryMax = 70;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool begins_with(std::string_view line, std::string_view lower_case) {
  if (line.size() < lower_case.size()) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(line.substr(0, lower_case.size()), lower_case, {}, lower);
}

// Takes a number from the front of the text.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > INT64_MAX) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view what) {
  if (!begins_with(text, what)) return false;
  text.remove_prefix(what.size());
  return true;
}

}  // namespace

std::optional<ContentRange> parse_content_range(std::string_view text) {
  text = trimmed(text);
  if (!take(text, "bytes")) return std::nullopt;
  text = trimmed(text);
  ContentRange parsed;
  if (!take(text, "*")) {
    const auto first = take_number(text);
    if (!first || !take(text, "-")) return std::nullopt;
    const auto last = take_number(text);
    if (!last || *last < *first) return std::nullopt;
    parsed.range = {*first, *last - *first + 1};
  }
  if (!take(text, "/")) return std::nullopt;
  if (take(text, "*")) return text.empty() && parsed.range.size > 0 ? std::optional(parsed) : std::nullopt;
  parsed.whole = take_number(text);
  if (!parsed.whole || !text.empty() || (parsed.range.size > 0 && parsed.range.begin >= *parsed.whole))
    return std::nullopt;
  // XRootD 5 repeats the range that was asked for, also if it ends behind the file.
  parsed.range.size = std::min(parsed.range.size, *parsed.whole - parsed.range.begin);
  return parsed;
}

std::string parse_boundary(std::string_view content_type) {
  while (!content_type.empty()) {
    content_type.remove_prefix(std::min(content_type.find(';'), content_type.size() - 1) + 1);
    content_type = trimmed(content_type);
    if (!take(content_type, "boundary=")) continue;
    const bool is_quoted = take(content_type, "\"");
    const std::string_view named = content_type.substr(0, content_type.find_first_of(is_quoted ? "\"" : "; \t"));
    return named.size() <= kBoundaryMax ? std::string(named) : "";
  }
  return "";
}

std::string range_header(std::span<const ByteRange> ranges) {
  std::string text = "bytes=";
  for (const ByteRange range : ranges) {
    if (text.back() != '=') text += ',';
    text += std::to_string(range.begin) + "-" + std::to_string(range.end() - 1);
  }
  return text;
}

Result<> MultipartReader::feed(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (state_ == State::data) {
      const auto part = bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
      take_(*part_, part_->range.end() - left_, part);
      left_ -= part.size();
      bytes = bytes.subspan(part.size());
      if (left_ == 0) state_ = State::behind_part;
      continue;
    }
    const char* const text = reinterpret_cast<const char*>(bytes.data());
    const void* const newline = std::memchr(text, '\n', bytes.size());
    const std::size_t size =
        newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - text) + 1 : bytes.size();
    line_.append(text, size);
    skipped_ += size;
    if (line_.size() > kLineMax || skipped_ > kSkippedMax)
      return fail(ErrorKind::damaged, "the response is not multipart/byteranges: a line of " +
                                          std::to_string(line_.size()) + " bytes, " + std::to_string(skipped_) +
                                          " between ranges");
    if (newline) TRY_VOID(end_line());
    bytes = bytes.subspan(size);
  }
  return {};
}

Result<> MultipartReader::end() {
  if (state_ != State::behind_part) return {};
  line_ += '\n';
  return end_line();
}

Result<> MultipartReader::end_line() {
  const std::string line = std::exchange(line_, {});
  switch (state_) {
    case State::preamble:
      // Text before the first boundary means nothing (RFC 2046); the line ends tell how this server writes boundaries.
      if (!take_boundary(line)) ends_before_ = line == "\r\n" ? ends_before_ + 1 : 0;
      return {};
    case State::head:
      return take_head_line(trimmed(std::string_view(line).substr(0, line.size() - 1)));
    case State::behind_part:
      return take_line_behind_part(line);
    case State::data:
    case State::epilogue:
      break;
  }
  return {};
}

// The boundary, with the next part or the end behind it.
bool MultipartReader::take_boundary(std::string_view line) {
  if (!line.starts_with(boundary_)) return false;
  const std::string_view rest = trimmed(line.substr(boundary_.size(), line.size() - 1 - boundary_.size()));
  if (!rest.empty() && rest != "--") return false;
  state_ = rest.empty() ? State::head : State::epilogue;
  part_.reset();
  return true;
}

Result<> MultipartReader::take_head_line(std::string_view line) {
  constexpr std::string_view kName = "content-range:";
  if (begins_with(line, kName)) {
    if (part_)
      return fail(ErrorKind::damaged, "a part of the response has two ranges, the first of bytes " +
                                          std::to_string(part_->range.begin) + " to " +
                                          std::to_string(part_->range.end()));
    part_ = parse_content_range(line.substr(kName.size()));
  }
  const bool is_end = line.empty();
  if ((is_end && !part_) || (part_ && part_->range.size == 0))
    return fail(ErrorKind::damaged, "a part of the response has no range" +
                                        (part_ ? ", but 0 bytes at " + std::to_string(part_->range.begin)
                                               : " in headers of " + std::to_string(skipped_) + " bytes"));
  if (!is_end) return {};
  left_ = part_->range.size;
  skipped_ = ends_behind_ = 0;
  state_ = State::data;
  return {};
}

// As many line ends as before the first boundary, one at least; then the boundary.
Result<> MultipartReader::take_line_behind_part(std::string_view line) {
  const std::size_t ends = std::clamp<std::size_t>(ends_before_, 1, kLineEndsMax);
  if (ends_behind_ < ends && line == "\r\n") {
    ++ends_behind_;
    return {};
  }
  const std::optional<ContentRange> part = part_;
  if (ends_behind_ != ends || !take_boundary(line))
    return fail(ErrorKind::damaged, "a part of the response does not have the length of its range of bytes " +
                                        std::to_string(part->range.begin) + " to " + std::to_string(part->range.end()));
  confirm_(*part);
  return {};
}

WantedPieces::WantedPieces(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  std::ranges::stable_sort(pieces_, {}, [](const Piece& piece) { return piece.range.begin; });
  for (const Piece& piece : pieces_) {
    left_.resize(std::max(left_.size(), piece.read + 1));
    ++left_[piece.read];
  }
}

// Counts the range's bytes from where those of the piece are missing. Returns how many they are.
std::uint64_t WantedPieces::fill(Piece& piece, ByteRange range) {
  const std::uint64_t next = piece.range.begin + piece.filled;
  if (next < range.begin || next >= range.end() || piece.filled == piece.range.size) return 0;
  const std::uint64_t size = std::min(piece.range.size - piece.filled, range.end() - next);
  piece.filled += size;
  if (piece.filled == piece.range.size && --left_[piece.read] == 0) whole_.push_back(piece.read);
  return size;
}

std::uint64_t WantedPieces::take(std::uint64_t offset, std::span<const std::byte> bytes) {
  put(offset, bytes);
  return confirm({offset, bytes.size()});
}

std::uint64_t WantedPieces::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::uint64_t copied = 0;
  while (first_ < pieces_.size() && pieces_[first_].filled == pieces_[first_].range.size) ++first_;
  for (Piece& piece : std::span(pieces_).subspan(first_)) {
    if (piece.range.begin >= offset + bytes.size()) break;
    const std::uint64_t begin = std::max(offset, piece.range.begin + piece.filled);
    const std::uint64_t end = std::min(offset + bytes.size(), piece.range.end());
    if (begin >= end) continue;
    std::memcpy(piece.into.data() + (begin - piece.range.begin), bytes.data() + (begin - offset), end - begin);
    copied += end - begin;
  }
  return copied;
}

std::uint64_t WantedPieces::confirm(ByteRange range) {
  std::uint64_t taken = 0;
  for (Piece& piece : std::span(pieces_).subspan(first_)) {
    if (piece.range.begin >= range.end()) break;
    taken += fill(piece, range);
  }
  return taken;
}

std::vector<ByteRange> WantedPieces::missing() const {
  std::vector<ByteRange> left;
  for (const Piece& piece : pieces_)
    if (piece.filled < piece.range.size)
      left.push_back({piece.range.begin + piece.filled, piece.range.size - piece.filled});
  std::ranges::sort(left, {}, &ByteRange::begin);
  std::vector<ByteRange> ranges;
  for (const ByteRange range : left) {
    if (!ranges.empty() && range.begin <= ranges.back().end())
      ranges.back().size = std::max(ranges.back().end(), range.end()) - ranges.back().begin;
    else
      ranges.push_back(range);
  }
  return ranges;
}

bool WantedPieces::are_filled() const {
  return std::ranges::all_of(pieces_, [](const Piece& piece) { return piece.filled == piece.range.size; });
}

std::uint64_t WantedPieces::end() const {
  std::uint64_t end = 0;
  for (const Piece& piece : pieces_)
    if (piece.filled < piece.range.size) end = std::max(end, piece.range.end());
  return end;
}

}  // namespace tfile
