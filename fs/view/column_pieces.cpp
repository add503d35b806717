// SPDX-License-Identifier: Apache-2.0
#include "view/column_pieces.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "damage.h"
#include "exec/for_each.h"
#include "tfile/request.h"

namespace tfilefs {
namespace {

// A file cannot be larger than a signed 64-bit offset.
constexpr auto kRangeEndMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Copying so many bytes that nobody wants costs less than one more read of what is in the cache. A read is as much as a
// request of the kernel carries.
constexpr tfile::JoinLimits kPickLimits{.gap_max = 4096, .range_max = 1 << 20};
// Reads under way at the same time: as many as are worth it if each waits for storage.
constexpr std::size_t kReadsAtOnce = 16;

// From so many bytes on an input is not copied: a copy is beyond the memory of the mount.
constexpr std::size_t kHeldMin = 1 << 20;

// The picks from this one on that are one read.
std::span<const Pick> read_together(std::span<const Pick> picks) {
  return tfile::parts_of_range(picks, kPickLimits, [](const Pick& pick) {
    return tfile::ByteRange{pick.from, pick.size};
  });
}

std::size_t count_reads(std::span<const Pick> picks) {
  std::size_t count = 0;
  for (; !picks.empty(); ++count) picks = picks.subspan(read_together(picks).size());
  return count;
}

// The picks are in order, and so are the pieces.
void copy_picks(std::span<const Pick> picks, const Slices& slices, tfile::Buffer& into) {
  std::size_t piece = 0;
  std::uint64_t at = picks[0].from;  // where the piece begins in the column
  for (const Pick& pick : picks) {
    while (at + slices.pieces[piece].size() <= pick.from) at += slices.pieces[piece++].size();
    std::uint64_t from = pick.from, to = pick.to, left = pick.size, piece_at = at;
    for (std::size_t p = piece; left > 0; ++p) {
      const auto bytes = slices.pieces[p];
      const std::uint64_t inside = from - piece_at, size = std::min(left, bytes.size() - inside);
      std::memcpy(into.data() + to, bytes.data() + inside, size);
      from += size;
      to += size;
      left -= size;
      piece_at += bytes.size();
    }
  }
}

}  // namespace

ColumnRange range_of_items(const tfile::Column& column, std::int64_t first, std::int64_t count) {
  const std::uint64_t item_size = column.item_size();
  const auto bytes = [&](std::int64_t items) {
    const auto n = static_cast<std::uint64_t>(std::max<std::int64_t>(0, items));
    return item_size > 0 && n > kRangeEndMax / item_size ? kRangeEndMax : n * item_size;
  };
  const std::uint64_t offset = bytes(first);
  return {column.stream, column.slot, item_size, offset, std::min(bytes(count), kRangeEndMax - offset)};
}

void read_whole(CachedStreams& streams, const ColumnRange& range, ReadUse use, Reply<Slices> reply) {
  auto check = [offset = range.offset, size = range.size](Result<Slices> slices, Reply<Slices> done) {
    if (slices && slices->size() != size) slices = ends_early(offset, slices->size(), size);
    done(std::move(slices));
  };
  streams.read(range.stream, range.slot, range.item_size, range.offset, range.size, use,
               on_behalf_of<Slices>(std::move(reply), std::move(check)));
}

void Inputs::add(Slices slices) {
  let_go();
  if (slices.pieces.size() != 1 || slices.size() < kHeldMin) return copy(slices);
  held_ = std::move(slices);
  bytes_.emplace_back(reinterpret_cast<const char*>(held_.pieces[0].data()), held_.size());
}

void Inputs::let_go() {
  if (held_.pieces.empty()) return;
  bytes_.pop_back();
  copy(std::exchange(held_, Slices()));
}

void Inputs::copy(const Slices& slices) {
  tfile::Buffer& buffer = memory_.emplace_back(slices.size(), tfile::Use::passing);
  copy_slices(slices, buffer.data());
  bytes_.emplace_back(reinterpret_cast<const char*>(buffer.data()), buffer.size());
}

void read_inputs(std::shared_ptr<CachedStreams> streams, std::vector<ColumnRange> ranges, ReadUse use, Inputs before,
                 Reply<Inputs> reply) {
  const std::size_t count = ranges.size();
  auto read = [streams = std::move(streams), ranges = std::move(ranges), use](std::size_t i, Inputs& inputs,
                                                                              Reply<void> done) {
    inputs.let_go();
    auto add = [&inputs](Slices slices) { inputs.add(std::move(slices)); };
    auto added = answer_with<Slices>(std::move(done), std::move(add));
    if (ranges[i].size == 0) return added(Slices());
    read_whole(*streams, ranges[i], use, std::move(added));
  };
  for_each(count, std::move(before), std::move(read), std::move(reply));
}

void pick_items(std::shared_ptr<CachedStreams> streams, const ColumnRange& column, std::vector<Pick> picks,
                std::shared_ptr<tfile::Buffer> into, ReadUse use, Reply<void> reply) {
  std::erase_if(picks, [](const Pick& pick) { return pick.size == 0; });
  std::ranges::sort(picks, {}, &Pick::from);
  const std::size_t count = count_reads(picks);
  auto read = [streams = std::move(streams), range = column, picks = std::move(picks), into = std::move(into), use,
               next = std::size_t{0}](std::size_t, Reply<void> done) mutable {
    const std::span<const Pick> some = read_together(std::span<const Pick>(picks).subspan(next));
    next += some.size();
    range.offset = some[0].from;
    range.size = 0;
    for (const Pick& pick : some) range.size = std::max(range.size, pick.from + pick.size - range.offset);
    auto copy = [some, &buffer = *into](const Slices& slices) { copy_picks(some, slices, buffer); };
    read_whole(*streams, range, use, answer_with<Slices>(std::move(done), std::move(copy)));
  };
  when_all(count, kReadsAtOnce, std::move(read), std::move(reply));
}

}  // namespace tfilefs
