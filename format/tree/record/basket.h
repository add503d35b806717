// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "container/key.h"
#include "tfile/chunk.h"
#include "tfile/result.h"

namespace tfile {

// Flags of a basket's header from here on: no offsets are stored, lengths come from the counter leaf.
inline constexpr std::uint8_t kFlagGenerated = 80;

// The key of a TBasket with the fields behind it, up to fKeylen (docs/format.md, "Baskets").
struct BasketHeader {
  std::uint32_t nbytes = 0, objlen = 0;
  std::uint32_t keylen = 0;
  std::int32_t buffer_size = 0, nev_buf_size = 0, entries = 0, last = 0;  // fBufferSize, fNevBufSize, fNevBuf, fLast
  std::uint8_t io_bits = 0, flag = 0;
  std::uint16_t version = 0;
  std::uint32_t border() const { return static_cast<std::uint32_t>(last) - keylen; }  // bytes of data
};

// Bytes to fetch so that a basket's header is certainly whole: the fixed part, and three strings (class TBasket, names
// of branch and tree) as ROOT's key length of 16 bits allows them would be 32 KiB, so fetch this first and more only if
// `keylen` says so.
inline constexpr std::size_t kBasketHeaderGuess = 256;

// `stored` begins at the record's first byte. Checks the fields against each other and against `stored_size`
// (fNbytes must not exceed it; border within objlen).
Result<BasketHeader> read_basket_header(std::span<const std::byte> stored, std::uint64_t stored_size);

// fKeylen as it stands in the first 16 bytes of a record (0 if there are fewer): what to fetch when the guess fell
// short.
std::size_t basket_header_size(std::span<const std::byte> stored);

// The fields between a basket's key, which the cursor has just read, and its data. Nothing is judged.
BasketHeader read_basket_fields(Cursor& in, const KeyHeader& key);

// What a basket's payload holds once decompressed.
struct BasketContent {
  BasketHeader header;
  Buffer payload;                    // objlen bytes; empty where they are stored as they are
  std::span<const std::byte> bytes;  // the payload, or those stored bytes; data = the first header.border()
  bool has_offsets = false;          // n + 1 offsets below, relative to the data, ascending, last == border
  std::vector<std::int32_t> offsets;
  bool generated_offsets = false;          // flag 80: lengths come from the counter leaf
  std::vector<std::int32_t> displacement;  // empty, or n: added to object tags' positions of that entry (offset less
                                           // fDisplacement)
};

// Decompresses a whole stored record and reads its tail. `stored` must outlive the content.
Result<BasketContent> read_basket(std::span<const std::byte> stored);

}  // namespace tfile
