// SPDX-License-Identifier: Apache-2.0
#include "tree/record/basket.h"

#include <string>
#include <utility>

#include "bytes/cursor.h"
#include "bytes/swap.h"
#include "compression/frame.h"
#include "container/key.h"

namespace tfile {
namespace {

// TIOFeatures' kGenerateOffsetMap, the only known feature. Any other would change the bytes in unknown ways.
constexpr std::uint8_t kGenerateOffsetMap = 1;

Result<> check_header(const BasketHeader& header, const KeyHeader& key, std::size_t parsed, std::uint64_t stored_size) {
  const auto bad = [](const std::string& what, std::int64_t value, std::int64_t bound) {
    return fail(ErrorKind::damaged,
                "basket: " + what + " is " + std::to_string(value) + ", limit " + std::to_string(bound));
  };
  if (key.nbytes <= 0 || static_cast<std::uint64_t>(key.nbytes) > stored_size) {
    return bad("fNbytes", key.nbytes, static_cast<std::int64_t>(stored_size));
  }
  if (key.objlen < 0) return bad("fObjlen", key.objlen, 0);
  if (key.keylen < 0 || key.keylen > key.nbytes) return bad("fKeylen", key.keylen, key.nbytes);
  if (parsed > header.keylen) return bad("end of the header", static_cast<std::int64_t>(parsed), key.keylen);
  if (header.entries < 0) return bad("fNevBuf", header.entries, 0);
  if (header.last < key.keylen) return bad("fLast", header.last, key.keylen);
  if (header.border() > header.objlen) return bad("end of the data", header.border(), key.objlen);
  if ((header.io_bits & ~kGenerateOffsetMap) != 0) {
    return fail(ErrorKind::unsupported, "basket: unknown fIOBits " + std::to_string(header.io_bits));
  }
  return {};
}

// Reads one of the arrays after the data: a count, then that many numbers. Returns the first `entries` of them.
std::vector<std::int32_t> read_array(Cursor& in, std::int32_t entries) {
  auto count = in.big<std::int32_t>("basket: size of the offset table");
  // uproot 3 writes 3, whatever the number is.
  constexpr std::int32_t kAnyNumber = 3;
  const std::uint64_t all = static_cast<std::uint64_t>(entries) + 1;
  if (count == kAnyNumber && in.left() == all * sizeof(std::int32_t)) count = entries + 1;
  if (count < entries) in.reject("basket: size of the offset table");
  const std::span<const std::byte> raw =
      in.take_items(count < 0 ? 0 : static_cast<std::uint64_t>(count), sizeof(std::int32_t), "basket: offset table");
  std::vector<std::int32_t> numbers;
  if (in.failed()) return numbers;
  numbers.reserve(static_cast<std::size_t>(entries) + 1);  // finish_offsets adds the end
  numbers.resize(static_cast<std::size_t>(entries));
  swap_items(raw.first(numbers.size() * sizeof(std::int32_t)), reinterpret_cast<std::byte*>(numbers.data()),
             sizeof(std::int32_t));
  return numbers;
}

// Stored offsets count from the start of the key; sizes begin with a 0. Both become offsets into the data. The last
// offset is set to the end of the data, whatever the file has there.
Result<> finish_one_by_one(const BasketHeader& header, bool sizes, std::vector<std::int32_t>& offsets) {
  const auto border = static_cast<std::int64_t>(header.border());
  std::int64_t before = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t stored = offsets[i];
    const std::int64_t offset = !sizes ? stored - header.keylen : i == 0 ? 0 : before + stored;
    if (offset < before || offset > border) {
      return fail(ErrorKind::damaged, "basket: entry " + std::to_string(i) + " begins at byte " +
                                          std::to_string(offset) + " of " + std::to_string(border));
    }
    offsets[i] = static_cast<std::int32_t>(offset);
    before = offset;
  }
  return {};
}

// Whether the stored offsets are in order and inside the data. Two passes without branches, which the compiler
// vectorises: a wide table has more offsets than numbers.
bool in_order(const BasketHeader& header, std::span<const std::int32_t> stored) {
  if (stored.empty()) return true;
  bool backward = false;
  for (std::size_t i = 1; i < stored.size(); ++i) backward |= stored[i] < stored[i - 1];
  return !backward && stored.front() >= static_cast<std::int64_t>(header.keylen) && stored.back() <= header.last;
}

Result<> finish_offsets(const BasketHeader& header, bool sizes, std::vector<std::int32_t>& offsets) {
  if (!sizes && in_order(header, offsets)) {
    for (std::int32_t& offset : offsets) offset -= static_cast<std::int32_t>(header.keylen);
  } else {
    TRY_VOID(finish_one_by_one(header, sizes, offsets));
  }
  offsets.push_back(static_cast<std::int32_t>(header.border()));
  return {};
}

Result<> read_tail(BasketContent& basket) {
  const BasketHeader& header = basket.header;
  const std::span<const std::byte> tail = basket.bytes.subspan(header.border());
  basket.generated_offsets = header.flag >= kFlagGenerated;
  if (tail.empty() || basket.generated_offsets) return {};
  Cursor in(tail);
  basket.has_offsets = true;
  basket.offsets = read_array(in, header.entries);
  if (in.left() > 0) {
    basket.displacement = read_array(in, header.entries);
    for (std::size_t i = 0; i < basket.displacement.size() && !in.failed(); ++i) {
      // Both count from the start of the key, so their difference is the distance moved.
      basket.displacement[i] = static_cast<std::int32_t>(std::int64_t{basket.offsets[i]} - basket.displacement[i]);
    }
  }
  if (in.left() > 0) in.reject("basket: bytes behind the offset table");
  TRY_VOID(in.finish());
  return finish_offsets(header, header.io_bits & kGenerateOffsetMap, basket.offsets);
}

}  // namespace

BasketHeader read_basket_fields(Cursor& in, const KeyHeader& key) {
  BasketHeader header;
  header.nbytes = static_cast<std::uint32_t>(key.nbytes);
  header.objlen = static_cast<std::uint32_t>(key.objlen);
  header.keylen = static_cast<std::uint32_t>(key.keylen);
  header.version = in.big<std::uint16_t>("basket: version");
  header.buffer_size = in.big<std::int32_t>("basket: fBufferSize");
  header.nev_buf_size = in.big<std::int32_t>("basket: fNevBufSize");
  if (header.nev_buf_size < 0) {
    header.nev_buf_size = header.nev_buf_size == INT32_MIN ? 0 : -header.nev_buf_size;
    header.io_bits = in.u1("basket: fIOBits");
  }
  header.entries = in.big<std::int32_t>("basket: fNevBuf");
  header.last = in.big<std::int32_t>("basket: fLast");
  header.flag = in.u1("basket: flag");
  return header;
}

std::size_t basket_header_size(std::span<const std::byte> stored) {
  constexpr std::size_t kKeylenAt = 4 + 2 + 4 + 4;  // after fNbytes, fVersion, fObjlen, fDatime
  if (stored.size() < kKeylenAt + sizeof(std::uint16_t)) return 0;
  return load_big<std::uint16_t>(stored.data() + kKeylenAt);
}

Result<BasketHeader> read_basket_header(std::span<const std::byte> stored, std::uint64_t stored_size) {
  Cursor in(stored);
  const KeyHeader key = read_key(in);
  const BasketHeader header = read_basket_fields(in, key);
  TRY_VOID(in.finish());
  TRY_VOID(check_header(header, key, in.position(), stored_size));
  return header;
}

Result<BasketContent> read_basket(std::span<const std::byte> stored) {
  BasketContent basket;
  TRY(basket.header, read_basket_header(stored, stored.size()));
  const BasketHeader& header = basket.header;
  const auto record = stored.subspan(header.keylen, header.nbytes - header.keylen);
  if (record.size() == header.objlen) {
    basket.bytes = record;
  } else {
    TRY(basket.payload, decompress(record, header.objlen));
    basket.bytes = basket.payload.span();
  }
  TRY_VOID(read_tail(basket));
  return basket;
}

}  // namespace tfile
