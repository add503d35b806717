// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bytes/cursor.h"
#include "tfile/range.h"
#include "tfile/result.h"

namespace tfile {

// The pieces of which the metadata of an RNTuple is made: envelopes, frames, strings, locators (RNTuple Binary Format
// Specification 1.0, "Envelopes", "Frames", "Locators and Envelope Links"). All numbers are little-endian.

enum class EnvelopeType : std::uint16_t { header = 1, footer = 2, page_list = 3 };

// What an envelope holds between its preamble and its checksum. The cursor is into the bytes that were opened.
struct Envelope {
  Cursor payload;
  std::uint64_t checksum = 0;  // XXH3 of everything before it
};

// Checks type, length and checksum of a decompressed envelope. Errors: damaged.
Result<Envelope> open_envelope(std::span<const std::byte> bytes, EnvelopeType type);

// A frame. The cursor that it is taken from stands behind it afterwards, whatever is read of the body: what later
// versions append is passed over. Of a frame that does not fit the outer cursor fails and the body is empty.
struct EnvelopeFrame {
  Cursor body;
  std::uint32_t items = 0;  // of a list
};
EnvelopeFrame take_record(Cursor& outer, const char* what);
// A list has no more items than its body has bytes, so a loop over them ends.
EnvelopeFrame take_list(Cursor& outer, const char* what);

// Its length in four bytes, then its characters.
std::string_view take_text(Cursor&, const char* what);

// Where a block lies in the file; `is_known` is false for a type of locator that this code does not know.
struct BlockLocator {
  ByteRange range;
  bool is_known = true;
};
BlockLocator take_locator(Cursor&, const char* what);

// An envelope somewhere else: its size there is the locator's, `length` what it has decompressed.
struct EnvelopeLink {
  std::uint64_t length = 0;
  BlockLocator locator;
};
EnvelopeLink take_link(Cursor&, const char* what);

// Features without which the data cannot be read; none is defined so far. Errors: unsupported, with the number of the
// first bit that is set.
Result<> check_feature_flags(Cursor&);

}  // namespace tfile
