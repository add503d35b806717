// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tfile/buffer.h"
#include "tfile/result.h"
#include "tfile/writer.h"

namespace tfile {

// The fields of the keys of a tree and its baskets.
struct TreePlace {
  std::uint64_t directory_seek = 0;  // fSeekPdir of its baskets: always the file's root directory
  std::string name, title;           // of the tree
  Compression compression;
  std::uint32_t datime = 0;  // TDatime in the keys of its baskets
};

// The key of a basket that is written, and the fields after it (docs/format.md, "Baskets").
struct BasketHead {
  std::string_view branch_name, title;
  std::size_t keylen = 0;
  std::int32_t entry_size = 0, entries = 0, last = 0;  // fNevBufSize, fNevBuf, fLast
};

// fNevBufSize of baskets that have offsets: TTree's default.
inline constexpr std::int32_t kOffsetCapacity = 1000;

// Writes the head to the beginning of `record`, which is the whole basket as stored. `payload_size`: decompressed.
void write_head(const BasketHead&, const TreePlace&, std::size_t payload_size, std::span<std::byte> record);

// A payload, and how much of it are data: the rest is compressed by itself.
struct BasketPayload {
  std::span<const std::byte> bytes;
  std::size_t data_size = 0;
};

// A record without its head, of `keylen` bytes, which is left free. The payload is compressed if that makes it smaller.
// `blocks`: memory to work with. Errors: no_space.
Result<Buffer> packed_record(const BasketPayload&, std::size_t keylen, const Compression&,
                             std::vector<std::byte>& blocks);

// Writes the address of each basket of a part into its key.
void put_basket_address(Part&, std::uint64_t address);

// The size of a basket with its key before compression, as its key says.
std::int64_t basket_raw_bytes(std::span<const std::byte> basket);

// fKeylen of a basket whose key has that name and title.
std::size_t basket_keylen(std::string_view branch_name, std::string_view title);

}  // namespace tfile
