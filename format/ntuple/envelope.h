// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/cursor.h"
#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// The pieces of an RNTuple's metadata: envelopes, frames, strings, locators (RNTuple Binary Format Specification 1.0,
// "Envelopes", "Frames", "Locators and Envelope Links"). All numbers are little-endian.

// An XXH3 ends anchors and envelopes, and pages where the file says so.
inline constexpr std::uint64_t kChecksumSize = 8;

enum class EnvelopeType : std::uint16_t { header = 1, footer = 2, page_list = 3 };

// The part of an envelope between its preamble and its checksum. The cursor reads the opened bytes.
struct Envelope {
  Cursor payload;
  std::uint64_t checksum = 0;  // XXH3 of all bytes before it
};

// Fails unless `told` is the checksum of the bytes. `what` has them. Errors: damaged.
Result<> check_checksum(const char* what, std::span<const std::byte> bytes, std::uint64_t told,
                        std::int64_t offset = -1);

// The error of an envelope that names the header by another checksum than that of the header.
tl::unexpected<Error> of_another_header(const char* what, std::uint64_t told, std::uint64_t header_checksum);

// Checks type, length and checksum of a decompressed envelope. Errors: damaged.
Result<Envelope> open_envelope(std::span<const std::byte> bytes, EnvelopeType type);

// A frame. Taking it moves the outer cursor past its end, however much of the body is then read, so that fields added
// by later versions are skipped. If the frame does not fit, the outer cursor fails and the body is empty.
struct EnvelopeFrame {
  Cursor body;
  std::uint32_t items = 0;  // of a list
};
EnvelopeFrame take_record(Cursor& outer, const char* what);
// A list never has more items than its body has bytes, so that a loop over them ends.
EnvelopeFrame take_list(Cursor& outer, const char* what);

// A length in four bytes, then that many characters.
std::string_view take_text(Cursor&, const char* what);

// The place of a block in the file; `is_known` is false for an unknown type of locator.
struct BlockLocator {
  ByteRange range;
  bool is_known = true;
};
BlockLocator take_locator(Cursor&, const char* what);

// A reference to an envelope: the locator has its stored size, and `length` is its decompressed size.
struct EnvelopeLink {
  std::uint64_t length = 0;
  BlockLocator locator;
};
EnvelopeLink take_link(Cursor&, const char* what);

// Fails if a feature is required for reading; none is defined so far. Errors: unsupported, with the number of the first
// bit that is set.
Result<> check_feature_flags(Cursor&);

}  // namespace tfile
