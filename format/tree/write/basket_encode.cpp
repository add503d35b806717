// SPDX-License-Identifier: Apache-2.0
#include "tree/write/basket_encode.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "bytes/endian.h"
#include "bytes/swap.h"
#include "container/key.h"

namespace tfile {
namespace {

using Kind = WrittenBranch::Kind;
using Bytes = std::span<const std::byte>;

// The version header of the collection in an entry, as ROOT 6.40 writes it: byte count and version of TStreamerInfo.
// The number of its items follows.
constexpr std::uint16_t kCollectionVersion = 10;
constexpr std::size_t kCollectionHeaderSize = 4 + 2 + 4;
// For a member of records in lists, whose own branch has their number; and for a text that is a member of an object.
constexpr std::size_t kMemberHeaderSize = 4 + 2;
constexpr std::uint32_t kByteCountBit = 0x40000000;

// Scratch memory above this is freed after use. Baskets of the usual size need far less.
constexpr std::size_t kScratchMax = 16 << 20;

// For lists shorter than this, a plain loop is faster than a call of the vectorised one.
constexpr std::size_t kWideSwapMin = 256;

tl::unexpected<Error> invalid_entry(const WrittenBranch& branch, std::int64_t entry, const std::string& what) {
  return fail(ErrorKind::invalid, branch.name + ", entry " + std::to_string(entry) + ": " + what);
}

// The staged offsets of one level: little-endian, absolute.
class Offsets {
 public:
  Offsets() = default;
  explicit Offsets(Bytes bytes) : bytes_(bytes) {}
  std::size_t items() const { return bytes_.size() / 8 - 1; }
  std::int64_t operator[](std::size_t i) const { return load_little<std::int64_t>(bytes_.data() + 8 * i); }
  std::int64_t first() const { return (*this)[0]; }
  std::uint64_t span() const { return static_cast<std::uint64_t>((*this)[items()] - first()); }
  // The beginning of item i, counted from the first one.
  std::uint64_t begin(std::size_t i) const { return static_cast<std::uint64_t>((*this)[i] - first()); }

  bool ascend() const {
    bool down = false;
    for (std::size_t i = 0; i < items(); ++i) down |= (*this)[i + 1] < (*this)[i];
    return !down;
  }
  std::size_t first_descent() const {
    std::size_t i = 0;
    while (i < items() && (*this)[i] <= (*this)[i + 1]) ++i;
    return i;
  }

 private:
  Bytes bytes_;
};

// The columns of a basket; the size of each follows from those before it.
struct Columns {
  std::vector<Offsets> levels;                 // outermost first; of texts, the offsets of chars are last
  Bytes items;                                 // values or chars
  std::size_t item_size = 1, stored_size = 1;  // bytes of an item
};

Result<Columns> check_columns(const WrittenBranch& branch, EntryRange range, std::span<const Bytes> given) {
  Columns columns;
  if (branch.kind == Kind::counted) given = given.subspan(1);
  const bool has_items = branch.kind != Kind::records;
  if (has_items && branch.kind != Kind::text) {
    columns.item_size = branch.leaves[0].bytes();
    columns.stored_size = branch.of_texts ? 1 : branch.leaves[0].stored_bytes();
  }
  auto wanted = static_cast<std::uint64_t>(range.size());
  for (const Bytes bytes : given.first(given.size() - (has_items ? 1 : 0))) {
    if (bytes.size() != 8 * (wanted + 1))
      return invalid_entry(branch, range.begin, "offsets have a different length than requested");
    const Offsets level(bytes);
    if (level.first() < 0 || !level.ascend()) {
      const std::size_t entry = columns.levels.empty() ? level.first_descent() : 0;
      return invalid_entry(branch, range.begin + static_cast<std::int64_t>(entry), "offsets decrease");
    }
    wanted = level.span();
    if (wanted > kObjectSizeMax) return invalid_entry(branch, range.begin, "exceeds the maximum size of a basket");
    columns.levels.push_back(level);
  }
  if (!has_items) return columns;
  columns.items = given.back();
  if (columns.items.size() != wanted * columns.item_size) {
    return invalid_entry(branch, range.begin, "values have a different length than the offsets say");
  }
  return columns;
}

template <class T>
Result<> check_counter(const WrittenBranch& branch, EntryRange range, Bytes counter, const Offsets& offsets) {
  if (counter.size() != sizeof(T) * offsets.items())
    return invalid_entry(branch, range.begin, "its counter has a different length");
  bool differs = false;
  const auto count = [&](std::size_t i) {
    return static_cast<std::int64_t>(load_little<T>(counter.data() + sizeof(T) * i));
  };
  for (std::size_t i = 0; i < offsets.items(); ++i) differs |= count(i) != offsets[i + 1] - offsets[i];
  if (!differs) return {};
  std::size_t i = 0;
  while (count(i) == offsets[i + 1] - offsets[i]) ++i;
  return invalid_entry(branch, range.begin + static_cast<std::int64_t>(i),
                       branch.counter + " is " + std::to_string(count(i)) + ", the list has " +
                           std::to_string(offsets[i + 1] - offsets[i]) + " items");
}

// Calls `use` with a number of that integer dtype.
template <class Use>
auto with_integer(Dtype dtype, Use use) {
  switch (dtype) {
    case Dtype::i1:
      return use(std::int8_t{});
    case Dtype::u1:
    case Dtype::b1:
      return use(std::uint8_t{});
    case Dtype::i2:
      return use(std::int16_t{});
    case Dtype::u2:
      return use(std::uint16_t{});
    case Dtype::i4:
      return use(std::int32_t{});
    case Dtype::u4:
      return use(std::uint32_t{});
    default:
      return use(std::int64_t{});
  }
}

void copy_booleans(Bytes from, std::byte* to) {
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::byte{from[i] != std::byte{0}};
}

// Copies numbers of one type that are next to each other.
void copy_numbers(Bytes from, Dtype dtype, std::byte* to) {
  if (from.empty()) return;
  if (dtype == Dtype::b1) {
    copy_booleans(from, to);
  } else if (size_of(dtype) == 1) {
    std::memcpy(to, from.data(), from.size());
  } else {
    swap_items(from, to, size_of(dtype));
  }
}

template <std::size_t kSize>
void swap_few(const std::byte* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    using Raw = typename UnsignedOfSize<kSize>::type;
    store_big(to + kSize * i, load_little<Raw>(from + kSize * i));
  }
}

// The same for lists that may have only a few items, which may be packed.
std::byte* put_numbers(Bytes from, const LeafForm& leaf, std::byte* to) {
  const std::size_t size = size_of(leaf.dtype);
  if (leaf.packing) {
    pack(*leaf.packing, from, to);
    return to + from.size() / size * leaf.packing->stored_size();
  }
  if (from.size() >= kWideSwapMin || size == 1) {
    copy_numbers(from, leaf.dtype, to);
  } else if (size == 2) {
    swap_few<2>(from.data(), from.size() / 2, to);
  } else if (size == 4) {
    swap_few<4>(from.data(), from.size() / 4, to);
  } else {
    swap_few<8>(from.data(), from.size() / 8, to);
  }
  return to + from.size();
}

std::uint64_t text_size(std::uint64_t length) { return length + (length < 255 ? 1 : 5); }

// ROOT's TLeafC writes no byte for an empty text.
std::uint64_t texts_size(const Offsets& chars, bool is_leaf_text) {
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < chars.items(); ++i) {
    const auto length = static_cast<std::uint64_t>(chars[i + 1] - chars[i]);
    size += is_leaf_text && length == 0 ? 0 : text_size(length);
  }
  return size;
}

std::byte* put_text(Bytes text, std::byte* to) {
  if (text.size() < 255) {
    *to++ = static_cast<std::byte>(text.size());
  } else {
    *to++ = std::byte{255};
    store_big(to, static_cast<std::int32_t>(text.size()));
    to += 4;
  }
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// Writes the data of a basket, and where each entry ends.
class DataWriter {
 public:
  DataWriter(const WrittenBranch& branch, EntryRange range, std::span<const Bytes> given)
      : branch_(branch), range_(range), given_(given) {}

  // Checks everything, and returns the size of the data.
  Result<std::uint64_t> size();

  // Call after size(). `ends[i]` receives the end of entry i, for branches with offsets.
  void write(std::byte* to, std::span<std::uint32_t> ends) const;
  std::int64_t largest() const;

 private:
  Result<std::uint64_t> size_of_numbers() const;

  Result<> check_ranges() const {
    const bool are_numbers = branch_.kind == Kind::counted || branch_.kind == Kind::items;
    return are_numbers ? check_range(branch_.leaves[0], columns_.items) : Result<>();
  }

  // A number that is not in the range of its packing would be stored as another one.
  Result<> check_range(const LeafForm& leaf, Bytes numbers) const;
  void write_numbers(std::byte* to) const;

  Bytes text(std::size_t i) const {
    const Offsets& chars = columns_.levels.back();
    return columns_.items.subspan(chars.begin(i), chars.begin(i + 1) - chars.begin(i));
  }

  void write_texts(std::byte* to, std::span<std::uint32_t> ends) const;

  // The longest text, or list of records.
  std::int64_t longest() const;
  void write_counts(std::byte* to, std::span<std::uint32_t> ends) const;

  std::size_t header_size() const { return branch_.is_in_list() ? kMemberHeaderSize : kCollectionHeaderSize; }

  // The header of what lies between `begin` and `end`.
  static void put_header(std::byte* begin, const std::byte* end) {
    store_big(begin, static_cast<std::uint32_t>(end - begin - 4) | kByteCountBit);
    store_big(begin + 4, kCollectionVersion);
  }

  // Writes items [begin, end) below `level`, without a header.
  std::byte* put_items(std::size_t level, std::uint64_t begin, std::uint64_t end, std::byte* to) const;
  void write_vectors(std::byte* to, std::span<std::uint32_t> ends) const;

  const WrittenBranch& branch_;
  EntryRange range_;
  std::span<const Bytes> given_;
  Columns columns_;
};

Result<std::uint64_t> DataWriter::size() {
  if (branch_.kind == Kind::numbers) return size_of_numbers();
  TRY(columns_, check_columns(branch_, range_, given_));
  TRY_VOID(check_ranges());
  std::uint64_t size = columns_.items.size() / columns_.item_size * columns_.stored_size;
  switch (branch_.kind) {
    case Kind::counted:
      TRY_VOID(with_integer(branch_.counter_dtype, [&](auto count) {
        return check_counter<decltype(count)>(branch_, range_, given_[0], columns_.levels[0]);
      }));
      break;
    case Kind::text:
      size = texts_size(columns_.levels[0], branch_.is_leaf_text);
      if (branch_.of_object) size += kMemberHeaderSize * static_cast<std::uint64_t>(range_.size());
      break;
    case Kind::records:
      size = 4 * static_cast<std::uint64_t>(range_.size());
      break;
    case Kind::items:
      break;
    default:  // vectors
      if (branch_.of_texts) size = texts_size(columns_.levels.back(), false);
      size += header_size() * static_cast<std::uint64_t>(range_.size());
      for (std::uint32_t level = 1; level < branch_.depth; ++level) size += 4 * columns_.levels[level].items();
  }
  return size;
}

void DataWriter::write(std::byte* to, std::span<std::uint32_t> ends) const {
  switch (branch_.kind) {
    case Kind::numbers:
      for (std::size_t i = 0; i < ends.size(); ++i)
        ends[i] = static_cast<std::uint32_t>((i + 1) * branch_.entry_size());
      return write_numbers(to);
    case Kind::counted:
    case Kind::items:
      put_numbers(columns_.items, branch_.leaves[0], to);
      for (std::size_t i = 0; i < ends.size(); ++i) {
        ends[i] = static_cast<std::uint32_t>(columns_.levels[0].begin(i + 1) * columns_.stored_size);
      }
      return;
    case Kind::text:
      return write_texts(to, ends);
    case Kind::vectors:
      return write_vectors(to, ends);
    case Kind::records:
      return write_counts(to, ends);
    case Kind::object:
      return;  // it has no baskets
  }
}

std::int64_t DataWriter::largest() const {
  if (branch_.kind == Kind::text || branch_.kind == Kind::records) return longest();
  if (!branch_.is_counter || branch_.leaves.size() != 1) return 0;
  return with_integer(branch_.leaves[0].dtype, [&](auto zero) {
    decltype(zero) most = 0;
    for (std::size_t i = 0; i < given_[0].size() / sizeof zero; ++i) {
      most = std::max(most, load_little<decltype(zero)>(given_[0].data() + sizeof zero * i));
    }
    return static_cast<std::int64_t>(most);
  });
}

Result<std::uint64_t> DataWriter::size_of_numbers() const {
  for (std::size_t i = 0; i < branch_.leaves.size(); ++i) {
    if (given_[i].size() != branch_.leaves[i].bytes() * static_cast<std::uint64_t>(range_.size())) {
      return invalid_entry(branch_, range_.begin, "values have a different length than requested");
    }
    TRY_VOID(check_range(branch_.leaves[i], given_[i]));
  }
  return branch_.entry_size() * static_cast<std::uint64_t>(range_.size());
}

Result<> DataWriter::check_range(const LeafForm& leaf, Bytes numbers) const {
  const auto first = leaf.packing ? first_beyond(*leaf.packing, numbers) : std::nullopt;
  if (!first) return {};
  const std::uint64_t item = *first / leaf.count();
  std::uint64_t entry = item;
  if (!columns_.levels.empty()) {
    for (entry = 0; columns_.levels[0].begin(entry + 1) <= item;) ++entry;
  }
  return invalid_entry(branch_, range_.begin + static_cast<std::int64_t>(entry),
                       (branch_.leaves.size() > 1 ? leaf.name + ": " : "") + "number is outside of its range, " +
                           std::to_string(leaf.packing->minimum) + " to " + std::to_string(leaf.packing->maximum));
}

void DataWriter::write_numbers(std::byte* to) const {
  if (branch_.leaves.size() == 1) {
    put_numbers(given_[0], branch_.leaves[0], to);
    return;
  }
  const std::size_t entry_size = branch_.entry_size();
  for (std::size_t i = 0; i < branch_.leaves.size(); ++i) {
    const LeafForm& leaf = branch_.leaves[i];
    const std::size_t bytes = leaf.bytes();
    for (std::size_t entry = 0; entry < static_cast<std::size_t>(range_.size()); ++entry) {
      put_numbers(given_[i].subspan(entry * bytes, bytes), leaf, to + entry * entry_size);
    }
    to += leaf.stored_bytes();
  }
}

void DataWriter::write_texts(std::byte* to, std::span<std::uint32_t> ends) const {
  const std::byte* start = to;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Bytes one = text(i);
    std::byte* const begin = to;
    if (branch_.of_object) to += kMemberHeaderSize;
    if (!one.empty() || !branch_.is_leaf_text) to = put_text(one, to);
    if (branch_.of_object) put_header(begin, to);
    ends[i] = static_cast<std::uint32_t>(to - start);
  }
}

std::int64_t DataWriter::longest() const {
  std::int64_t most = 0;
  const Offsets& lists = columns_.levels.back();
  for (std::size_t i = 0; i < lists.items(); ++i) most = std::max(most, lists[i + 1] - lists[i]);
  return most;
}

void DataWriter::write_counts(std::byte* to, std::span<std::uint32_t> ends) const {
  const Offsets& lists = columns_.levels[0];
  for (std::size_t i = 0; i < ends.size(); ++i) {
    store_big(to + 4 * i, static_cast<std::uint32_t>(lists[i + 1] - lists[i]));
    ends[i] = static_cast<std::uint32_t>(4 * (i + 1));
  }
}

std::byte* DataWriter::put_items(std::size_t level, std::uint64_t begin, std::uint64_t end, std::byte* to) const {
  if (level == branch_.depth) {
    if (!branch_.of_texts) {
      const std::size_t size = columns_.item_size;
      return put_numbers(columns_.items.subspan(begin * size, (end - begin) * size), branch_.leaves[0], to);
    }
    for (std::uint64_t i = begin; i < end; ++i) to = put_text(text(i), to);
    return to;
  }
  const Offsets& lists = columns_.levels[level];
  for (std::uint64_t i = begin; i < end; ++i) {
    store_big(to, static_cast<std::uint32_t>(lists.begin(i + 1) - lists.begin(i)));
    to = put_items(level + 1, lists.begin(i), lists.begin(i + 1), to + 4);
  }
  return to;
}

void DataWriter::write_vectors(std::byte* to, std::span<std::uint32_t> ends) const {
  const std::byte* start = to;
  const Offsets& lists = columns_.levels[0];
  for (std::size_t i = 0; i < ends.size(); ++i) {
    std::byte* end = put_items(1, lists.begin(i), lists.begin(i + 1), to + header_size());
    put_header(to, end);
    if (!branch_.is_in_list()) store_big(to + 6, static_cast<std::uint32_t>(lists.begin(i + 1) - lists.begin(i)));
    to = end;
    ends[i] = static_cast<std::uint32_t>(to - start);
  }
}

// Writes where each entry begins, counted from the start of the key. The last number has no meaning; ROOT writes 0.
void write_offsets(std::span<const std::uint32_t> ends, std::size_t keylen, std::byte* to) {
  store_big(to, static_cast<std::int32_t>(ends.size() + 1));
  auto begin = static_cast<std::uint32_t>(keylen);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    store_big(to + 4 * (i + 1), begin);
    begin = static_cast<std::uint32_t>(keylen + ends[i]);
  }
  store_big(to + 4 * (ends.size() + 1), std::uint32_t{0});
}

// Memory of an encoding thread, used again for its next basket.
struct Scratch {
  std::vector<std::byte> payload, stored;
  std::vector<std::uint32_t> ends;
  void trim() {
    if (payload.capacity() > kScratchMax) payload = {};
    if (stored.capacity() > kScratchMax) stored = {};
    if (ends.capacity() * 4 > kScratchMax) ends = {};
  }
};

class BasketEncoder {
 public:
  BasketEncoder(const WrittenBranch& branch, const TreePlace& place, EntryRange entries, std::span<const Bytes> columns,
                Scratch& scratch)
      : branch_(branch), place_(place), entries_(entries), data_(branch, entries, columns), scratch_(scratch) {}

  Result<Part> encode() {
    TRY(data_size_, data_.size());
    const auto entries = static_cast<std::uint64_t>(entries_.size());
    payload_size_ = data_size_ + (branch_.has_offsets() ? 4 * (entries + 2) : 0);
    if (payload_size_ > kObjectSizeMax) {
      return invalid_entry(branch_, entries_.begin,
                           entries == 1 ? "it is larger than 1 GiB" : "basket larger than 1 GiB");
    }
    head_.branch_name = branch_.name;
    head_.title = branch_.basket_title;
    head_.keylen = basket_keylen(branch_.name, branch_.basket_title);
    head_.entries = static_cast<std::int32_t>(entries);
    head_.entry_size = branch_.has_offsets() ? kOffsetCapacity : static_cast<std::int32_t>(branch_.entry_size());
    head_.last = static_cast<std::int32_t>(head_.keylen + data_size_);
    scratch_.ends.resize(branch_.has_offsets() ? entries : 0);
    Part basket;
    TRY(basket.stored, make_record());
    write_head(head_, place_, payload_size_, basket.stored.span());
    basket.entries = entries_.size();
    basket.raw_bytes = static_cast<std::int64_t>(head_.keylen + payload_size_);
    basket.largest = data_.largest();
    return basket;
  }

 private:
  void write_payload(std::byte* to) {
    data_.write(to, scratch_.ends);
    if (branch_.has_offsets()) write_offsets(scratch_.ends, head_.keylen, to + data_size_);
  }

  // Makes the record, except for its head.
  Result<Buffer> make_record() {
    if (place_.compression.level == 0) {
      Buffer record(head_.keylen + payload_size_, Use::passing);
      write_payload(record.data() + head_.keylen);
      return record;
    }
    scratch_.payload.resize(payload_size_);
    write_payload(scratch_.payload.data());
    return packed_record({scratch_.payload, data_size_}, head_.keylen, place_.compression, scratch_.stored);
  }

  const WrittenBranch& branch_;
  const TreePlace& place_;
  EntryRange entries_;
  DataWriter data_;
  Scratch& scratch_;
  std::uint64_t data_size_ = 0, payload_size_ = 0;
  BasketHead head_;
};

}  // namespace

Result<Part> encode_basket(const WrittenBranch& branch, const TreePlace& place, EntryRange entries,
                           std::span<const std::span<const std::byte>> columns) try {
  thread_local Scratch scratch;
  Result<Part> basket = BasketEncoder(branch, place, entries, columns, scratch).encode();
  scratch.trim();
  return basket;
} catch (const std::bad_alloc&) {
  return no_memory("no memory for a basket of " + branch.name);
}

}  // namespace tfile
