// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "container/key.h"
#include "tfile/chunk.h"
#include "tfile/result.h"

namespace tfile {

// A basket whose flag is at least this stores no offsets: the lengths come from the counter leaf.
inline constexpr std::uint8_t kFlagGenerated = 80;

// The key of a TBasket and the fields after it, up to fKeylen (docs/format.md, "Baskets").
struct BasketHeader {
  std::uint32_t nbytes = 0, objlen = 0;
  std::uint32_t keylen = 0;
  std::int32_t buffer_size = 0, nev_buf_size = 0, entries = 0, last = 0;  // fBufferSize, fNevBufSize, fNevBuf, fLast
  std::uint8_t io_bits = 0, flag = 0;
  std::uint16_t version = 0;
  std::uint32_t border() const { return static_cast<std::uint32_t>(last) - keylen; }  // bytes of data
};

// The bytes to fetch first for a basket's header. ROOT's key length has 16 bits, so a header with its three strings
// (class TBasket, names of branch and tree) may take 32 KiB. More is fetched only if `keylen` says so.
inline constexpr std::size_t kBasketHeaderGuess = 256;

// `stored` begins at the first byte of the record. Checks the fields against each other and against `stored_size`
// (fNbytes must not exceed it, and border must lie within objlen).
Result<BasketHeader> read_basket_header(std::span<const std::byte> stored, std::uint64_t stored_size);

// fKeylen from the first 16 bytes of a record (0 if there are fewer): the size to fetch if the guess was too small.
std::size_t basket_header_size(std::span<const std::byte> stored);

// The fields between a basket's key, which the cursor has just read, and its data. They are not checked.
BasketHeader read_basket_fields(Cursor& in, const KeyHeader& key);

// The decompressed content of a basket.
struct BasketContent {
  BasketHeader header;
  Buffer payload;                    // objlen bytes; empty if the basket is stored uncompressed
  std::span<const std::byte> bytes;  // the payload, or the stored bytes; the data are the first header.border() of them
  bool has_offsets = false;          // there are n + 1 offsets, relative to the data, ascending, with last == border
  std::vector<std::int32_t> offsets;
  bool generated_offsets = false;          // flag 80: lengths come from the counter leaf
  std::vector<std::int32_t> displacement;  // empty, or n: added to object tags' positions of that entry (offset less
                                           // fDisplacement)
};

// Decompresses a whole stored record and reads its tail. `stored` must outlive the result.
Result<BasketContent> read_basket(std::span<const std::byte> stored);

}  // namespace tfile
