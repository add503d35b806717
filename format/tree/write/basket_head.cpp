// SPDX-License-Identifier: Apache-2.0
#include "tree/write/basket_head.h"

#include <algorithm>
#include <cstring>

#include "bytes/appender.h"
#include "bytes/cursor.h"
#include "compression/frame.h"
#include "container/key.h"

namespace tfile {
namespace {

constexpr std::uint16_t kBasketVersion = 3;
constexpr std::size_t kBasketHeaderSize = 2 + 4 + 4 + 4 + 4 + 1;

}  // namespace

// Keys of baskets are always in the wide form, as ROOT writes them.
void write_head(const BasketHead& head, const TreePlace& place, std::size_t payload_size, std::span<std::byte> record) {
  KeyHeader key;
  key.nbytes = static_cast<std::int32_t>(record.size());
  key.version = kWideVersion + kKeyVersion;
  key.objlen = static_cast<std::int32_t>(payload_size);
  key.datime = place.datime;
  key.keylen = static_cast<std::int16_t>(head.keylen);
  key.seek_pdir = static_cast<std::int64_t>(place.directory_seek);  // the key's own address is not known yet
  key.class_name = "TBasket";
  key.name = head.branch_name;
  key.title = head.title;
  Appender out;
  append_key(out, key);
  out.big(kBasketVersion);
  out.big(static_cast<std::int32_t>(head.keylen + payload_size));  // fBufferSize
  out.big(head.entry_size);
  out.big(head.entries);
  out.big(head.last);
  out.u1(0);  // the flag: as on disk
  std::memcpy(record.data(), out.span().data(), out.size());
}

Result<Buffer> packed_record(const BasketPayload& payload, std::size_t keylen, const Compression& compression,
                             std::vector<std::byte>& blocks) {
  blocks.clear();
  TRY(const bool shrinks, compress(payload.bytes, payload.data_size, compression, blocks));
  const std::span<const std::byte> stored = shrinks ? std::span<const std::byte>(blocks) : payload.bytes;
  Buffer record(keylen + stored.size(), Use::passing);
  std::ranges::copy(stored, record.data() + keylen);
  return record;
}

void put_basket_address(Part& part, std::uint64_t address) {
  if (part.units.empty()) store_big(part.stored.data() + kKeyFixedSize, address);
  for (const Part::Unit& basket : part.units)
    store_big(part.stored.data() + basket.offset + kKeyFixedSize, address + basket.offset);
}

std::int64_t basket_raw_bytes(std::span<const std::byte> basket) {
  Cursor in(basket);
  const KeyHeader key = read_key(in);
  return std::int64_t{key.keylen} + key.objlen;
}

std::size_t basket_keylen(std::string_view branch_name, std::string_view title) {
  KeyHeader key;
  key.version = kWideVersion + kKeyVersion;
  key.class_name = "TBasket";
  key.name = branch_name;
  key.title = title;
  return key_size(key) + kBasketHeaderSize;
}

}  // namespace tfile
