// SPDX-License-Identifier: Apache-2.0
#include "tree/record/basket.h"
#include "tree/record/record_reader.h"

namespace tfile {
namespace {

// The parts of the flag. The last digit is 2 if there are no offsets. Above 10, the buffer follows. Above 20 and below
// 40, the upper byte of each offset is a displacement. Above 40, there is an array of displacements.
constexpr std::uint8_t kWithBuffer = 10, kMaskedOffsets = 20, kDisplaced = 40;
constexpr std::uint8_t kBufferAlone = 1;
constexpr std::uint32_t kOffsetMask = 0x00FFFFFF;

std::span<const std::byte> read_bytes_of_array(Cursor& in, const char* what) {
  const auto count = in.big<std::int32_t>(what);
  if (count < 0) in.reject(what);
  return in.take_items(count < 0 ? 0 : static_cast<std::uint64_t>(count), sizeof(std::int32_t), what);
}

// Stores the offsets relative to the data, ascending, one more than there are entries.
void store_offsets(Cursor& in, std::span<const std::byte> raw, bool masked, const BasketHeader& header,
                   std::vector<std::int32_t>& offsets) {
  const auto entries = static_cast<std::size_t>(header.entries);
  if (raw.size() / sizeof(std::int32_t) < entries) return in.reject("embedded basket: offset table");
  offsets.reserve(entries + 1);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    auto stored = load_big<std::uint32_t>(raw.data() + i * sizeof(std::int32_t));
    if (masked) stored &= kOffsetMask;
    const std::int64_t offset = std::int64_t{stored} - header.keylen;
    if (offset < before || offset > header.border()) return in.reject("embedded basket: offset");
    offsets.push_back(static_cast<std::int32_t>(offset));
    before = offset;
  }
  offsets.push_back(static_cast<std::int32_t>(header.border()));
}

}  // namespace

EmbeddedBasket read_embedded_basket(Cursor& in) {
  EmbeddedBasket basket;
  const KeyHeader key = read_key(in);
  const BasketHeader header = read_basket_fields(in, key);
  std::uint8_t flag = header.flag;
  basket.generated_offsets = flag >= kFlagGenerated;
  if (basket.generated_offsets) flag = static_cast<std::uint8_t>(flag - kFlagGenerated);
  if (in.failed() || flag == 0) return basket;
  if (header.entries < 0 || key.keylen < 0 || header.last < key.keylen) {
    in.reject("embedded basket: fLast");
    return basket;
  }
  const bool has_offsets = !basket.generated_offsets && flag % 10 != 2 && header.entries > 0;
  std::span<const std::byte> offsets;
  if (has_offsets) {
    offsets = read_bytes_of_array(in, "embedded basket: offsets");
    if (flag > kDisplaced) read_bytes_of_array(in, "embedded basket: displacements");
  }
  if (flag != kBufferAlone && flag <= kWithBuffer) return basket;
  if (header.version <= 1) in.skip(sizeof(std::int32_t), "embedded basket: size of the buffer");
  const std::span<const std::byte> buffer = in.take(static_cast<std::uint64_t>(header.last), "embedded basket: buffer");
  if (in.failed()) return basket;
  basket.entries = header.entries;
  basket.entry_size = header.nev_buf_size;
  basket.keylen = header.keylen;
  const std::span<const std::byte> data = buffer.subspan(header.keylen);
  basket.data.assign(data.begin(), data.end());
  if (has_offsets) {
    store_offsets(in, offsets, flag > kMaskedOffsets && flag < kDisplaced, header, basket.offsets);
    if (in.failed()) return {};
  }
  return basket;
}

}  // namespace tfile
