// SPDX-License-Identifier: Apache-2.0
#include "tree/read/stream.h"

#include <algorithm>

#include "bytes/boolean.h"
#include "bytes/swap.h"
#include "tree/read/item_ends.h"

namespace tfile {
namespace {

Error not_whole(std::uint64_t size, std::uint64_t item) {
  return Error{ErrorKind::damaged,
               "basket: " + std::to_string(size) + " bytes of data are not a whole number of items of " +
                   std::to_string(item) + " bytes",
               -1, 0};
}

// At least one is uneven.
tl::unexpected<Error> uneven_entry(std::span<const std::int32_t> ends, std::int64_t item) {
  const auto uneven = std::ranges::find_if(ends, [&](std::int32_t end) { return end % item != 0; });
  return fail(ErrorKind::damaged, "basket: entry " + std::to_string(uneven - ends.begin()) + " ends at byte " +
                                      std::to_string(*uneven) + ", not a multiple of its items of " +
                                      std::to_string(item) + " bytes");
}

tl::unexpected<Error> count_beyond_data(std::size_t entry, std::int64_t count, std::int64_t left) {
  return fail(ErrorKind::damaged, "basket: counter of entry " + std::to_string(entry) + " is " + std::to_string(count) +
                                      ", with " + std::to_string(left) + " items left");
}

tl::unexpected<Error> counts_other_than(std::int64_t counted, std::int64_t items) {
  return fail(ErrorKind::damaged, "basket: its counters add up to " + std::to_string(counted) +
                                      " items, the data has " + std::to_string(items));
}

tl::unexpected<Error> without_offsets(std::uint64_t size, std::int64_t entries) {
  return fail(ErrorKind::damaged, "basket: " + std::to_string(size) + " bytes for " + std::to_string(entries) +
                                      " entries, without offsets");
}

std::int64_t ends_of(std::int64_t entries, bool first_chunk) { return entries + (first_chunk ? 1 : 0); }

// The ends of entries in items, absolute, with the leading 0 at the beginning of the column.
class EndsArray {
 public:
  EndsArray(std::int64_t entries, std::int64_t base, bool leading_zero)
      : buffer_(static_cast<std::size_t>(entries + leading_zero) * sizeof(std::int64_t)), base_(base) {
    if (leading_zero) push_absolute(0);
  }
  void push(std::int64_t end) { push_absolute(base_ + end); }
  bool push_from_bytes(std::span<const std::int32_t> byte_ends, std::int32_t item_size) {
    std::int64_t* to = reinterpret_cast<std::int64_t*>(buffer_.data()) + next_;
    next_ += byte_ends.size();
    return item_ends(byte_ends, item_size, base_, to);
  }
  Buffer take() { return std::move(buffer_); }

 private:
  void push_absolute(std::int64_t value) { reinterpret_cast<std::int64_t*>(buffer_.data())[next_++] = value; }
  Buffer buffer_;
  std::int64_t base_;
  std::size_t next_ = 0;
};

// Ends in items, from byte offsets or else from counts. Without either, all entries have one size.
Result<Buffer> jagged_ends(const Stream& stream, const BasketData& data, std::span<const std::int64_t> counts,
                           std::int64_t base, bool leading_zero) {
  EndsArray ends(data.entries, base, leading_zero);
  const auto item = static_cast<std::int64_t>(stream.item_size);
  const auto total = static_cast<std::int64_t>(data.size) / item;
  if (!data.offsets.empty()) {
    if (static_cast<std::int64_t>(data.offsets.size()) != data.entries + 1)
      return fail(ErrorKind::damaged, "basket: " + std::to_string(data.offsets.size()) + " offsets for " +
                                          std::to_string(data.entries) + " entries");
    if (!ends.push_from_bytes(std::span(data.offsets).subspan(1), static_cast<std::int32_t>(item)))
      return uneven_entry(std::span(data.offsets).subspan(1), item);
  } else if (!counts.empty() || data.entries == 0) {
    if (static_cast<std::int64_t>(counts.size()) != data.entries)
      return fail(ErrorKind::damaged, "basket: its counter covers " + std::to_string(counts.size()) +
                                          " entries, the basket holds " + std::to_string(data.entries));
    std::int64_t end = 0;
    for (const std::int64_t& n : counts) {
      if (n < 0 || n > total - end)
        return count_beyond_data(static_cast<std::size_t>(&n - counts.data()), n, total - end);
      ends.push(end += n);
    }
    if (end != total) return counts_other_than(end, total);
  } else {
    if (total % data.entries != 0) return without_offsets(data.size, data.entries);
    for (std::int64_t i = 1; i <= data.entries; ++i) ends.push(total / data.entries * i);
  }
  return ends.take();
}

// The data in their final byte order: swapped in place if the basket was decompressed, else while being copied.
Buffer final_form(const Stream& stream, BasketData data) {
  if (data.outside.empty()) {
    if (stream.number_size > 1) swap_items(data.payload.span().first(data.size), stream.number_size);
  } else {
    data.payload = Buffer(data.size);
    swap_items(data.bytes(), data.payload.data(), stream.number_size);
  }
  if (stream.is_boolean) normalize_booleans(data.payload.span().first(data.size));
  return std::move(data.payload);
}

// Whether these are the ends of the basket's lists, after the leading 0 at the beginning of the column.
bool has_ends(const Stream& stream, const BasketData& data, std::int64_t base, bool leading_zero, const Buffer& ends) {
  if (data.offsets.empty()) return false;
  const std::span all(reinterpret_cast<const std::int64_t*>(ends.data()), ends.size() / sizeof(std::int64_t));
  return are_item_ends(std::span(data.offsets).subspan(1), static_cast<std::int32_t>(stream.item_size), base,
                       all.subspan(leading_zero ? 1 : 0));
}

Result<std::shared_ptr<const Buffer>> shared_ends(const Stream& stream, const BasketData& data,
                                                  std::span<const std::int64_t> counts,
                                                  std::span<const std::int64_t> first, SharedEnds* shared) {
  const bool leading_zero = first[0] == 0;
  const SharedEnds::Range place{first[0], ends_of(data.entries, leading_zero), first[1]};
  if (shared)
    if (auto known = shared->at(place); known && has_ends(stream, data, first[1], leading_zero, *known)) return known;
  TRY(Buffer made, jagged_ends(stream, data, counts, first[1], leading_zero));
  auto ends = std::make_shared<const Buffer>(std::move(made));
  if (shared) shared->keep(place, ends);
  return ends;
}

Result<Chunk> decode_jagged(const Stream& stream, BasketData data, std::span<const std::int64_t> counts,
                            std::span<const std::int64_t> first, SharedEnds* shared) {
  if (data.size % stream.item_size != 0) return tl::unexpected<Error>(not_whole(data.size, stream.item_size));
  Chunk chunk;
  TRY(chunk.shared, shared_ends(stream, data, counts, first, shared));
  const std::size_t size = data.size;
  chunk.owned.push_back(final_form(stream, std::move(data)));
  chunk.arrays = {chunk.shared->span(), chunk.owned[0].span().first(size)};
  return chunk;
}

Result<Chunk> decode_flat(const Stream& stream, BasketData data) {
  // Checks that the data give the number of items that was computed from the entries alone.
  TRY_VOID(items_by_size(stream, data.size, data.entries, false));
  const std::size_t size = data.size;
  Chunk chunk;
  chunk.owned.push_back(final_form(stream, std::move(data)));
  chunk.arrays = {chunk.owned[0].span().first(size)};
  return chunk;
}

Entries entries_of(const BasketData& data) {
  return {data.bytes(), data.offsets, data.entries, data.keylen, data.item_counts, data.displacement};
}

// Adds the entry ends that a program needs to a basket without offsets. If entries are only items (a member of a split
// collection), the basket is one long entry; else all entries have one size.
Result<> complete_offsets(const Stream& stream, BasketData& data) {
  const Program& program = *stream.program;
  if (!data.offsets.empty() || !program.needs_entry_ends || data.entries == 0) return {};
  if (program.entry_is_items && program.main.end - program.main.begin == 1) {
    data.offsets = {0, static_cast<std::int32_t>(data.size)};
    data.entries = 1;
    return {};
  }
  const auto n = static_cast<std::uint64_t>(data.entries);
  if (data.size % n != 0) return without_offsets(data.size, data.entries);
  for (std::uint64_t i = 0; i <= n; ++i) data.offsets.push_back(static_cast<std::int32_t>(data.size / n * i));
  return {};
}

// items_by_size() assumes headers of one size, but a basket may contain others.
Result<> check_number_list(const Stream& stream, const BasketData& data, const Chunk& chunk) {
  TRY(const auto items, items_by_size(stream, data.size, data.entries, false));
  if (chunk.arrays.back().size() != static_cast<std::uint64_t>(items.back()) * stream.item_size)
    return fail(ErrorKind::unsupported,
                "basket: list headers do not have the expected " + std::to_string(stream.list_prefix) + " bytes");
  return {};
}

}  // namespace

bool size_gives_items(const Stream& stream) {
  switch (stream.kind) {
    case Stream::Kind::flat:
    case Stream::Kind::jagged:
    case Stream::Kind::raw:
      return true;
    case Stream::Kind::program:
      if (stream.list_prefix != 0) return true;
      for (auto length : stream.lengths) {
        if (length == Stream::Length::unknown) return false;
      }
      return true;
  }
  return false;
}

Result<std::vector<std::int64_t>> items_by_size(const Stream& stream, std::uint64_t data_size, std::int64_t entries,
                                                bool first_chunk) {
  if (stream.kind == Stream::Kind::program && stream.list_prefix == 0) {
    std::vector<std::int64_t> items;
    for (auto length : stream.lengths)
      items.push_back(length == Stream::Length::entries ? entries : ends_of(entries, first_chunk));
    return items;
  }
  const auto prefix = static_cast<std::uint64_t>(entries) * stream.list_prefix;
  if (data_size < prefix || (data_size - prefix) % stream.item_size != 0)
    return tl::unexpected<Error>(not_whole(data_size, stream.item_size));
  const auto n = static_cast<std::int64_t>((data_size - prefix) / stream.item_size);
  switch (stream.kind) {
    case Stream::Kind::flat:
      if (stream.lengths[0] == Stream::Length::entries && n != entries)
        return fail(ErrorKind::damaged,
                    "basket: " + std::to_string(n) + " items for " + std::to_string(entries) + " entries");
      return std::vector{n};
    case Stream::Kind::program:
      return std::vector{ends_of(entries, first_chunk), n, n};
    default:
      return std::vector{ends_of(entries, first_chunk), n};
  }
}

Result<ItemCounter::Counted> count_by_decoding(const Stream& stream, BasketData data, bool first_chunk) {
  const Program& program = *stream.program;
  TRY_VOID(complete_offsets(stream, data));
  // Decodes as if the chunk began at item 0; but only the first chunk gets the leading 0 of ends.
  std::vector<std::int64_t> first(program.slots.size(), 0);
  for (std::size_t slot = 0; slot < first.size(); ++slot)
    first[slot] = program.slots[slot].kind == Slot::Kind::ends && !first_chunk ? 1 : 0;
  ItemCounter::Counted counted;
  TRY(counted.chunk, run_program(program, entries_of(data), first, &counted.items));
  for (std::size_t slot = 0; first_chunk && slot < first.size(); ++slot)
    counted.items[slot] += program.slots[slot].kind == Slot::Kind::ends ? 1 : 0;
  return counted;
}

Result<> offsets_from_counts(const Stream& stream, BasketData& data, std::span<const std::int64_t> counts) {
  const auto item = static_cast<std::int64_t>(stream.packed_item_size);
  const auto items = static_cast<std::int64_t>(data.size) / item;
  std::int64_t end = 0;
  data.offsets.assign(1, 0);
  for (const std::int64_t& n : counts) {
    if (n < 0 || n > items - end)
      return count_beyond_data(static_cast<std::size_t>(&n - counts.data()), n, items - end);
    end += n;
    data.offsets.push_back(static_cast<std::int32_t>(end * item));
  }
  if (end * item == static_cast<std::int64_t>(data.size)) return {};
  if (end == items) return tl::unexpected<Error>(not_whole(data.size, stream.packed_item_size));
  return counts_other_than(end, items);
}

Result<> entries_follow_program(const Stream& stream, BasketData& data) {
  TRY_VOID(complete_offsets(stream, data));
  TRY_VOID(run_program(*stream.program, entries_of(data), {}, nullptr));
  return {};
}

FoundClasses classes_of_entries(const Stream& stream, BasketData& data) {
  return complete_offsets(stream, data) ? find_classes(*stream.program, entries_of(data)) : FoundClasses();
}

Result<Chunk> decode_basket(const Stream& stream, BasketData data, std::span<const std::int64_t> counts,
                            std::span<const std::int64_t> first, SharedEnds* shared) {
  switch (stream.kind) {
    case Stream::Kind::flat:
      return decode_flat(stream, std::move(data));
    case Stream::Kind::jagged:
    case Stream::Kind::raw:
      return decode_jagged(stream, std::move(data), counts, first, shared);
    case Stream::Kind::program: {
      TRY_VOID(complete_offsets(stream, data));
      auto chunk = run_program(*stream.program, entries_of(data), first, nullptr);
      if (chunk && stream.list_prefix != 0) TRY_VOID(check_number_list(stream, data, *chunk));
      return chunk;
    }
  }
  return fail(ErrorKind::unsupported, "unknown stream kind " + std::to_string(static_cast<int>(stream.kind)));
}

}  // namespace tfile
