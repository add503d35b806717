// SPDX-License-Identifier: Apache-2.0
#include "repack/selected_items.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "tfile/request.h"
#include "view/segments.h"
#include "waited.h"

namespace tfilefs {

using tfile::Column;
using tfile::ItemRange;
using tfile::Role;

namespace {

constexpr std::size_t kOffsetSize = sizeof(std::int64_t);

// Items between two ranges are read, too, if they are no more than this: a further read costs as much.
constexpr std::uint64_t kGapBytes = 16 << 10;
// Bytes that are read together: the largest piece that is in memory beside what is made of it.
constexpr std::uint64_t kReadBytes = 4 << 20;

Result<Slices> read_slices(CachedStreams& streams, const Column& column, ItemRange items) {
  return waited<Slices>(
      [&](auto reply) { read_whole(streams, range_of_items(column, items.begin, items.size()), std::move(reply)); });
}

// Copies `size` bytes from `offset` on.
void copy_part(const Slices& slices, std::uint64_t offset, std::size_t size, std::byte* to) {
  for (const std::span<const std::byte> piece : slices.pieces) {
    if (size == 0) return;
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const std::size_t part = std::min<std::size_t>(size, piece.size() - offset);
    std::memcpy(to, piece.data() + offset, part);
    to += part;
    size -= part;
    offset = 0;
  }
}

// Reads everything from the first range to the last, in pieces of at most `most` items, and takes the ranges out of it.
Result<> read_through(CachedStreams& streams, const Column& column, std::span<const ItemRange> ranges,
                      std::int64_t most, std::byte* to) {
  const auto size = static_cast<std::int64_t>(column.item_size());
  for (std::int64_t at = ranges.front().begin; at < ranges.back().end; at += most) {
    const ItemRange piece{at, std::min(at + most, ranges.back().end)};
    TRY(const Slices slices, read_slices(streams, column, piece));
    for (const ItemRange& range : ranges) {
      const std::int64_t begin = std::max(piece.begin, range.begin), end = std::min(piece.end, range.end);
      if (begin >= end) continue;
      const auto bytes = static_cast<std::size_t>((end - begin) * size);
      copy_part(slices, static_cast<std::uint64_t>((begin - piece.begin) * size), bytes, to);
      to += bytes;
    }
  }
  return {};
}

// Reads ranges of items into one array, several in one read where they lie close together. What lies between them may
// be damaged: then each is read by itself.
Result<> read_ranges(CachedStreams& streams, const Column& column, std::span<const ItemRange> ranges, std::byte* to) {
  const auto size = static_cast<std::int64_t>(column.item_size());
  const tfile::JoinLimits limits{.gap_max = kGapBytes / column.item_size(),
                                 .range_max = std::max<std::uint64_t>(1, kReadBytes / column.item_size())};
  const auto most = static_cast<std::int64_t>(limits.range_max);
  while (!ranges.empty()) {
    const std::span<const ItemRange> near = tfile::parts_of_range(ranges, limits, [](ItemRange range) {
      return tfile::ByteRange{static_cast<std::uint64_t>(range.begin), static_cast<std::uint64_t>(range.size())};
    });
    const bool failed = !read_through(streams, column, near, most, to);
    for (const ItemRange& range : near) {
      if (failed) TRY_VOID(read_through(streams, column, std::span(&range, 1), most, to));
      to += range.size() * size;
    }
    ranges = ranges.subspan(near.size());
  }
  return {};
}

std::int64_t count_of(std::span<const ItemRange> ranges) {
  std::int64_t sum = 0;
  for (const ItemRange& range : ranges) sum += range.size();
  return sum;
}

void add_range(std::vector<ItemRange>& ranges, ItemRange range) {
  if (range.size() == 0) return;
  if (!ranges.empty() && ranges.back().end == range.begin) {
    ranges.back().end = range.end;
  } else {
    ranges.push_back(range);
  }
}

// The offsets of these lists as if they were all, from `begin` on. `items`: where their items are.
Result<tfile::Buffer> gather_offsets(CachedStreams& streams, const Column& column, std::span<const ItemRange> lists,
                                     std::int64_t& begin, std::vector<ItemRange>& items) {
  std::vector<ItemRange> ends;  // one number more than there are lists, in each range
  for (const ItemRange& range : lists) ends.push_back({range.begin, range.end + 1});
  tfile::Buffer stored(static_cast<std::size_t>(count_of(ends)) * kOffsetSize, tfile::Use::passing);
  TRY_VOID(read_ranges(streams, column, ends, stored.data()));
  tfile::Buffer made((static_cast<std::size_t>(count_of(lists)) + 1) * kOffsetSize, tfile::Use::passing);
  const std::byte* from = stored.data();
  std::byte* to = made.data();
  std::memcpy(std::exchange(to, to + kOffsetSize), &begin, kOffsetSize);
  std::int64_t before = 0;
  for (const ItemRange& range : ends) {
    std::int64_t first = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i, from += kOffsetSize) {
      std::int64_t offset = 0;
      std::memcpy(&offset, from, kOffsetSize);
      if (offset < before)
        return tfile::fail(ErrorKind::damaged, column.path + ": offsets decrease: " + std::to_string(offset) +
                                                   " after " + std::to_string(before));
      before = offset;
      if (i == range.begin) {
        first = offset;
        continue;
      }
      const std::int64_t now = begin + offset - first;
      std::memcpy(std::exchange(to, to + kOffsetSize), &now, kOffsetSize);
    }
    begin += before - first;
    add_range(items, {first, before});
  }
  return made;
}

// The items of variants, and what they contain.
struct GatheredVariants {
  tfile::Buffer tags, index;
  std::vector<std::vector<ItemRange>> alternatives;
};

// Numbers the items of an alternative, which are taken in their order.
class AlternativeItems {
 public:
  std::vector<ItemRange> ranges;

  // The number of an item among those taken, if it may stand there.
  std::optional<std::int64_t> number(std::int64_t position, bool may_share) {
    if (position < 0) return std::nullopt;
    if (!ranges.empty() && position < ranges.back().end) return may_share ? known(position) : std::nullopt;
    if (ranges.empty() || ranges.back().end != position) firsts_.push_back(count_);
    add_range(ranges, {position, position + 1});
    return count_++;
  }

 private:
  std::optional<std::int64_t> known(std::int64_t position) const {
    const auto behind = std::ranges::upper_bound(ranges, position, {}, &ItemRange::begin);
    if (behind == ranges.begin()) return std::nullopt;
    const auto range = std::prev(behind);
    if (position >= range->end) return std::nullopt;
    return firsts_[static_cast<std::size_t>(range - ranges.begin())] + position - range->begin;
  }

  std::vector<std::int64_t> firsts_;  // of each range, the number of its first item
  std::int64_t count_ = 0;
};

// Tags and index as if these variants were all: the items of each alternative count from `next` on.
Result<GatheredVariants> gather_variants(CachedStreams& streams, const Column& tags, const Column& index,
                                         std::span<const ItemRange> variants, bool may_share,
                                         std::vector<std::int64_t>& next) {
  GatheredVariants made;
  std::vector<AlternativeItems> alternatives(next.size());
  const auto count = static_cast<std::size_t>(count_of(variants));
  made.tags = tfile::Buffer(count, tfile::Use::passing);
  made.index = tfile::Buffer(count * kOffsetSize, tfile::Use::passing);
  TRY_VOID(read_ranges(streams, tags, variants, made.tags.data()));
  TRY_VOID(read_ranges(streams, index, variants, made.index.data()));
  for (std::size_t i = 0; i < count; ++i) {
    const auto tag = std::to_integer<std::size_t>(made.tags.data()[i]);
    if (tag == 0) continue;
    if (tag > alternatives.size())
      return tfile::fail(ErrorKind::damaged, tags.path + ": tag " + std::to_string(tag) + " of " +
                                                 std::to_string(alternatives.size()) + " alternatives");
    std::byte* const at = made.index.data() + i * kOffsetSize;
    std::int64_t position = 0;
    std::memcpy(&position, at, kOffsetSize);
    const auto number = alternatives[tag - 1].number(position, may_share);
    if (!number)
      return tfile::fail(ErrorKind::damaged, index.path + ": items of an alternative are not consecutive: " +
                                                 std::to_string(position) + " at item " + std::to_string(i));
    const std::int64_t now = next[tag - 1] + *number;
    std::memcpy(at, &now, kOffsetSize);
  }
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    next[i] += count_of(alternatives[i].ranges);
    made.alternatives.push_back(std::move(alternatives[i].ranges));
  }
  return made;
}

// The begin of the next entries, by column: the next offset, and of tags the next item of each alternative.
struct NextItems {
  explicit NextItems(std::size_t columns) : offsets(columns), alternatives(columns) {}
  std::vector<std::int64_t> offsets;
  std::vector<std::vector<std::int64_t>> alternatives;
};

// The items of columns, one column after the other.
class Gathering {
 public:
  Gathering(CachedStreams& streams, const FieldOfColumns& field, NextItems& next, std::vector<ItemRange> entries)
      : streams_(streams), field_(field), next_(next), ranges_(field, std::move(entries)) {}

  Result<FieldItems> run() {
    for (std::size_t i = 0; i < field_.columns.size(); ++i) {
      if (ranges_.alternatives[i].empty()) {
        TRY_VOID(add_column(i));
      } else {
        TRY_VOID(add_variants(i++));
      }
    }
    return std::move(made_);
  }

 private:
  void add(tfile::Buffer buffer) {
    made_.memory.push_back(std::move(buffer));
    made_.columns.push_back(made_.memory.back().span());
    made_.bytes += made_.memory.back().size();
  }

  Result<> add_column(std::size_t i) {
    const Column& column = *field_.columns[i];
    const std::vector<ItemRange>& ranges = ranges_.of(i);
    if (column.role == Role::offsets) {
      TRY(tfile::Buffer offsets, gather_offsets(streams_, column, ranges, next_.offsets[i], ranges_.inside[i]));
      add(std::move(offsets));
    } else {
      tfile::Buffer items(static_cast<std::size_t>(count_of(ranges)) * column.item_size(), tfile::Use::passing);
      TRY_VOID(read_ranges(streams_, column, ranges, items.data()));
      add(std::move(items));
    }
    return {};
  }

  // Tags, and the index behind them.
  Result<> add_variants(std::size_t tags) {
    std::vector<std::int64_t>& next = next_.alternatives[tags];
    next.resize(ranges_.alternatives[tags].size());
    TRY(GatheredVariants variants, gather_variants(streams_, *field_.columns[tags], *field_.columns[tags + 1],
                                                   ranges_.of(tags), field_.shares_items, next));
    add(std::move(variants.tags));
    add(std::move(variants.index));
    ranges_.alternatives[tags] = std::move(variants.alternatives);
    return {};
  }

  CachedStreams& streams_;
  const FieldOfColumns& field_;
  NextItems& next_;
  NestedItems<std::vector<ItemRange>> ranges_;
  FieldItems made_;
};

// Makes of the items of raw columns what the streamers of their classes write. `before`: how many entries of their
// cluster come before these. Errors: unsupported (cannot be kept so).
Result<> complete_raw(const SelectedEntries& selected, const FieldOfColumns& field, std::int64_t before,
                      FieldItems& items) {
  for (std::size_t i = 0; i < field.columns.size(); ++i) {
    if (selected.streamed == nullptr || field.columns[i]->role != Role::raw) continue;
    const auto known = selected.streamed->find(field.columns[i]->branch);
    if (known == selected.streamed->end()) continue;
    TRY_VOID(
        tfile::complete_streamed(known->second, before, items.columns[field.lists[i]], items.columns[i], items.memory));
  }
  return {};
}

}  // namespace

Result<tfile::Buffer> read_items(CachedStreams& streams, const Column& column, ItemRange items) {
  tfile::Buffer bytes(static_cast<std::size_t>(items.size()) * column.item_size(), tfile::Use::passing);
  TRY_VOID(read_ranges(streams, column, std::span(&items, 1), bytes.data()));
  return bytes;
}

ReadItems selected_items(const SelectedEntries& selected, const FieldOfColumns& field, std::int64_t begin) {
  return [selected, &field, begin,
          next = NextItems(field.columns.size())](tfile::EntryRange numbers) mutable -> Result<FieldItems> {
    std::vector<ItemRange> entries;
    for (const tfile::EntryRange& range : selected.kept.numbered(numbers)) entries.push_back({range.begin, range.end});
    TRY(FieldItems items, Gathering(selected.streams, field, next, std::move(entries)).run());
    items.entries = numbers;
    items.cluster_begin.resize(field.columns.size());
    if (const auto done = complete_raw(selected, field, numbers.begin - begin, items); !done)
      items.refused = done.error();
    return items;
  };
}

}  // namespace tfilefs
