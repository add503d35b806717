// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/part_encode.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bytes/appender.h"
#include "bytes/offset_at.h"
#include "compression/frame.h"
#include "container/key.h"
#include "ntuple/page_encode.h"

namespace tfile {
namespace {

using Bytes = std::span<const std::byte>;

// ROOT's largest page before compression.
constexpr std::uint64_t kPageBytesMax = 1 << 20;

constexpr std::uint64_t kOffsetSize = 8;

// Scratch memory above this is freed after use.
constexpr std::size_t kScratchMax = 4 << 20;

// Memory of an encoding thread, used again for its next part.
struct Scratch {
  std::vector<std::byte> page, stored, part;
  void trim() {
    for (std::vector<std::byte>* each : {&page, &stored, &part}) {
      if (each->capacity() > kScratchMax) *each = {};
    }
  }
};

class PartEncoder {
 public:
  PartEncoder(const StoredField& field, const BlobPlace& place, const OfferedPart& offered, Scratch& scratch);
  Result<Part> encode();

 private:
  Bytes bytes(std::size_t i) const { return offered_.columns[i]; }

  tl::unexpected<Error> invalid(const std::string& what) const;

  // Whether the columns have the items that the offsets or tags around them say.
  Result<> check();
  Result<> check_values(std::size_t i);

  // The items of the column that these entries have.
  std::uint64_t items_of(std::size_t i) const;
  std::string entry_of(std::size_t column, std::size_t item) const;
  Result<> count_tags(std::size_t i);

  // The items at which the alternatives of a variant begin in the cluster.
  std::vector<std::int64_t> bases_of(std::size_t tags) const;

  // Whether those that hold the same alternative have its items one after the other.
  Result<> check_positions(std::size_t i) const;
  std::uint64_t span(std::size_t offsets) const;
  Result<> check_range(std::size_t i) const;

  // With as many digits as tell it from others.
  template <class Number>
  static std::string shown(Number number) {
    std::array<char, 32> text{};
    return {text.data(), std::to_chars(text.begin(), text.end(), number).ptr};
  }

  // The entry that has an item of the column, through the lists around it. The first one where variants are,
  // of which the items do not tell.
  std::uint64_t entry_with(std::size_t i, std::uint64_t item) const;
  std::string name_of_entry(std::uint64_t number) const;
  Result<> check_offsets(std::size_t i) const;
  Result<> add_column(std::size_t i);
  Result<> add_page(std::size_t i, std::uint64_t first, std::uint64_t elements);
  void store(ColumnNumber column, std::uint64_t elements, Bytes page);
  void close(KeyHeader key);

  const StoredField& field_;
  const BlobPlace& place_;
  const OfferedPart& offered_;
  Scratch& scratch_;
  std::map<std::size_t, std::vector<std::uint64_t>> counts_;  // of columns of tags: how many there are of each
  Part part_;
};

PartEncoder::PartEncoder(const StoredField& field, const BlobPlace& place, const OfferedPart& offered, Scratch& scratch)
    : field_(field), place_(place), offered_(offered), scratch_(scratch) {}

Result<Part> PartEncoder::encode() {
  TRY_VOID(check());
  scratch_.part.clear();
  const KeyHeader key = blob_key(place_);
  scratch_.part.resize(static_cast<std::size_t>(key.keylen));
  for (std::size_t i = 0; i < field_.columns.size(); ++i) TRY_VOID(add_column(i));
  part_.entries = offered_.entries.size();
  close(key);
  return std::move(part_);
}

tl::unexpected<Error> PartEncoder::invalid(const std::string& what) const {
  return fail(ErrorKind::invalid, field_.name + ", entry " + std::to_string(offered_.entries.begin) + ": " + what);
}

Result<> PartEncoder::check() {
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < field_.columns.size(); ++i) {
    const StoredColumn& column = field_.columns[i];
    const std::uint64_t items = items_of(i);
    const std::uint64_t wanted = column.is_ends() ? kOffsetSize * (items + 1) : column.item_bytes() * items;
    if (items > kObjectSizeMax || bytes(i).size() != wanted)
      return invalid(column.is_ends() ? "offsets have a different length than requested"
                                      : "values have a different length than the offsets or tags say");
    TRY_VOID(check_values(i));
    all += wanted;
  }
  if (all > kObjectSizeMax)
    return invalid(offered_.entries.size() == 1 ? "it is larger than 1 GiB" : "entries are larger than 1 GiB");
  return {};
}

Result<> PartEncoder::check_values(std::size_t i) {
  switch (field_.columns[i].kind) {
    case StoredColumn::Kind::ends:
      return check_offsets(i);
    case StoredColumn::Kind::tags:
      return count_tags(i);
    case StoredColumn::Kind::index:
      return check_positions(i);
    case StoredColumn::Kind::numbers:
      break;
  }
  return check_range(i);
}

std::uint64_t PartEncoder::items_of(std::size_t i) const {
  const std::uint32_t list = field_.lists[i];
  if (list == FieldForm::kEachEntry) return static_cast<std::uint64_t>(offered_.entries.size());
  const VariantPart part = variant_part(field_.variants, i);
  return part.tag == 0 ? span(list) : counts_.at(list)[part.tag];
}

std::string PartEncoder::entry_of(std::size_t column, std::size_t item) const {
  const bool is_outermost = field_.lists[column] == FieldForm::kEachEntry;
  return field_.name + ", entry " +
         std::to_string(offered_.entries.begin + (is_outermost ? static_cast<std::int64_t>(item) : 0));
}

Result<> PartEncoder::count_tags(std::size_t i) {
  const std::size_t alternatives = variant_part(field_.variants, i).alternatives;
  std::vector<std::uint64_t>& counts = counts_[i];
  counts.assign(alternatives + 1, 0);
  const Bytes tags = bytes(i);
  for (std::size_t at = 0; at < tags.size(); ++at) {
    const auto tag = std::to_integer<std::size_t>(tags[at]);
    if (tag > alternatives)
      return fail(ErrorKind::invalid, entry_of(i, at) + ": tag " +
                                          std::to_string(std::to_integer<std::int8_t>(tags[at])) + " of " +
                                          std::to_string(alternatives) + " alternatives");
    ++counts[tag];
  }
  return {};
}

std::vector<std::int64_t> PartEncoder::bases_of(std::size_t tags) const {
  std::vector<std::int64_t> bases(variant_part(field_.variants, tags).alternatives);
  for (std::size_t i = tags; i < field_.columns.size() && i < offered_.cluster_items.size(); ++i) {
    const VariantPart part = variant_part(field_.variants, i);
    if (part.tag != 0 && field_.lists[i] == tags) bases[part.tag - 1] = offered_.cluster_items[i];
  }
  return bases;
}

Result<> PartEncoder::check_positions(std::size_t i) const {
  const Bytes tags = bytes(i - 1), positions = bytes(i);
  const std::vector<std::int64_t> bases = bases_of(i - 1);
  std::vector<std::int64_t> next(bases.size(), -1);
  for (std::size_t at = 0; at < tags.size(); ++at) {
    const auto tag = std::to_integer<std::size_t>(tags[at]);
    if (tag == 0) continue;
    const std::int64_t position = offset_at(positions, at);
    if (next[tag - 1] == -1 ? position < bases[tag - 1] : position != next[tag - 1])
      return fail(ErrorKind::invalid,
                  entry_of(i, at) + ": index " + std::to_string(position) + " is not the next item");
    next[tag - 1] = position + 1;
  }
  return {};
}

std::uint64_t PartEncoder::span(std::size_t offsets) const {
  const std::uint64_t last = bytes(offsets).size() / kOffsetSize - 1;
  return static_cast<std::uint64_t>(offset_at(bytes(offsets), last) - offset_at(bytes(offsets), 0));
}

Result<> PartEncoder::check_range(std::size_t i) const {
  const PageEncoding& encoding = field_.columns[i].encoding;
  const Bytes numbers = bytes(i);
  const std::size_t first = first_out_of_range(encoding, numbers);
  if (encoding.type != ColumnType::real32_quant || first == numbers.size() / sizeof(float)) return {};
  const std::uint64_t item = first * sizeof(float) / field_.columns[i].item_bytes();
  return fail(ErrorKind::invalid, name_of_entry(entry_with(i, item)) + ": " +
                                      shown(load_little<float>(numbers.data() + first * sizeof(float))) +
                                      " is outside of the range of its encoding, " + shown(encoding.min) + " to " +
                                      shown(encoding.max));
}

std::uint64_t PartEncoder::entry_with(std::size_t i, std::uint64_t item) const {
  for (; field_.lists[i] != FieldForm::kEachEntry; i = field_.lists[i]) {
    const std::uint32_t list = field_.lists[i];
    if (variant_part(field_.variants, i).tag != 0) return 0;
    const std::int64_t wanted = offset_at(bytes(list), 0) + static_cast<std::int64_t>(item);
    std::uint64_t low = 0, high = bytes(list).size() / kOffsetSize - 1;  // the list that ends behind the item
    while (high - low > 1) {
      const std::uint64_t middle = low + (high - low) / 2;
      (offset_at(bytes(list), middle) <= wanted ? low : high) = middle;
    }
    item = low;
  }
  return item;
}

std::string PartEncoder::name_of_entry(std::uint64_t number) const {
  return field_.name + ", entry " + std::to_string(offered_.entries.begin + static_cast<std::int64_t>(number));
}

Result<> PartEncoder::check_offsets(std::size_t i) const {
  const Bytes offsets = bytes(i);
  if (offsets.size() == kOffsetSize) return {};  // there are no lists: any number will do
  bool down = offset_at(offsets, 0) < offered_.cluster_begin[i];
  for (std::uint64_t k = 1; k < offsets.size() / kOffsetSize; ++k)
    down |= offset_at(offsets, k) < offset_at(offsets, k - 1);
  if (!down) return {};
  std::uint64_t entry = 0;
  const bool is_outermost = field_.lists[i] == FieldForm::kEachEntry;
  while (is_outermost && entry + 2 < offsets.size() / kOffsetSize &&
         offset_at(offsets, entry) <= offset_at(offsets, entry + 1))
    ++entry;
  return fail(ErrorKind::invalid, field_.name + ", entry " +
                                      std::to_string(offered_.entries.begin + static_cast<std::int64_t>(entry)) +
                                      ": offsets decrease");
}

Result<> PartEncoder::add_column(std::size_t i) {
  const StoredColumn& column = field_.columns[i];
  if (column.kind == StoredColumn::Kind::index) return {};
  const std::uint64_t in_page = kPageBytesMax * 8 / column.encoding.bits;
  const std::uint64_t elements =
      column.is_ends() ? bytes(i).size() / kOffsetSize - 1 : bytes(i).size() / size_of(column.dtype);
  for (std::uint64_t at = 0; at < elements; at += in_page) TRY_VOID(add_page(i, at, std::min(in_page, elements - at)));
  return {};
}

Result<> PartEncoder::add_page(std::size_t i, std::uint64_t first, std::uint64_t elements) {
  const StoredColumn& column = field_.columns[i];
  scratch_.page.resize(page_size(column.encoding, elements));
  if (column.kind == StoredColumn::Kind::tags) {
    const Bytes positions = bytes(i + 1).subspan(first * kOffsetSize, elements * kOffsetSize);
    encode_switch(bytes(i).subspan(first, elements), positions, bases_of(i), scratch_.page);
  } else if (column.is_ends()) {
    encode_ends(column.encoding, bytes(i).subspan(first * kOffsetSize, (elements + 1) * kOffsetSize),
                offered_.cluster_begin[i], scratch_.page);
  } else {
    const std::size_t size = size_of(column.dtype);
    encode_numbers(column.encoding, bytes(i).subspan(first * size, elements * size), scratch_.page);
  }
  part_.raw_bytes += static_cast<std::int64_t>(scratch_.page.size());
  scratch_.stored.clear();
  TRY(const bool shrinks, compress(scratch_.page, scratch_.page.size(), place_.compression, scratch_.stored));
  store(column.number, elements, shrinks ? scratch_.stored : scratch_.page);
  return {};
}

void PartEncoder::store(ColumnNumber column, std::uint64_t elements, Bytes page) {
  Part::Unit& unit = part_.units.emplace_back();
  unit.stream = column;
  unit.elements = static_cast<std::uint32_t>(elements);
  unit.offset = scratch_.part.size();
  unit.size = page.size();
  const XXH128_hash_t hash = XXH3_128bits(page.data(), page.size());
  unit.hash = {hash.low64, hash.high64};
  const std::uint64_t checksum = XXH3_64bits(page.data(), page.size());
  scratch_.part.insert(scratch_.part.end(), page.begin(), page.end());
  const Bytes sum = std::as_bytes(std::span(&checksum, 1));
  static_assert(sizeof checksum == kChecksumSize);
  scratch_.part.insert(scratch_.part.end(), sum.begin(), sum.end());
}

void PartEncoder::close(KeyHeader key) {
  if (part_.units.empty()) return;  // lists without items, in a column of their own
  key.nbytes = static_cast<std::int32_t>(scratch_.part.size());
  key.objlen = key.nbytes - key.keylen;
  Appender head;
  append_key(head, key);
  std::ranges::copy(head.span(), scratch_.part.begin());
  part_.stored = Buffer(scratch_.part.size(), Use::passing);
  std::memcpy(part_.stored.data(), scratch_.part.data(), scratch_.part.size());
}

}  // namespace

KeyHeader blob_key(const BlobPlace& place) {
  KeyHeader key;
  key.version = kWideVersion + kKeyVersion;  // as for baskets: the address is known last
  key.datime = place.datime;
  key.cycle = 1;
  key.seek_pdir = static_cast<std::int64_t>(place.directory_seek);
  key.class_name = "RBlob";
  key.keylen = static_cast<std::int16_t>(key_size(key));
  return key;
}

Result<Part> encode_part(const StoredField& field, const BlobPlace& place, const OfferedPart& offered) try {
  thread_local Scratch scratch;
  Result<Part> part = PartEncoder(field, place, offered, scratch).encode();
  scratch.trim();
  return part;
} catch (const std::bad_alloc&) {
  return no_memory("no memory for pages of " + field.name);
}

void put_part_address(Part& part, std::uint64_t address) {
  if (part.stored.size() > 0) store_big(part.stored.data() + kKeyFixedSize, address);
}

void cut_stored_units(Part& part) {
  if (std::ranges::all_of(part.units, [](const Part::Unit& unit) { return unit.address == 0; })) return;
  constexpr std::size_t kSizeOffset = 0, kObjlenOffset = 4 + 2;
  std::size_t keylen = part.stored.size();
  for (const Part::Unit& unit : part.units) keylen = std::min(keylen, static_cast<std::size_t>(unit.offset));
  std::size_t size = keylen;
  for (const Part::Unit& unit : part.units) size += unit.address == 0 ? unit.size + kChecksumSize : 0;
  if (size == keylen) {
    part.stored = Buffer();
    return;
  }
  Buffer kept(size, Use::passing);
  std::memcpy(kept.data(), part.stored.data(), keylen);
  store_big(kept.data() + kSizeOffset, static_cast<std::int32_t>(size));
  store_big(kept.data() + kObjlenOffset, static_cast<std::int32_t>(size - keylen));
  std::size_t at = keylen;
  for (Part::Unit& unit : part.units) {
    if (unit.address != 0) continue;
    std::memcpy(kept.data() + at, part.stored.data() + unit.offset, unit.size + kChecksumSize);
    unit.offset = at;
    at += unit.size + kChecksumSize;
  }
  part.stored = std::move(kept);
}

}  // namespace tfile
