// SPDX-License-Identifier: Apache-2.0
#include "view/friends/gathered_items.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "exec/when_all.h"
#include "on_behalf.h"
#include "tfile/request.h"
#include "view/segments.h"

namespace tfilefs {
namespace {

// Copying so many bytes that nobody wants costs less than one more read of what is in the cache. A read is as much as a
// request of the kernel carries.
constexpr tfile::JoinLimits kPickLimits{.gap_max = 4096, .range_max = 1 << 20};
// Reads under way at the same time: as many as are worth it if each waits for storage.
constexpr std::size_t kReadsAtOnce = 16;

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

void pick_items(std::shared_ptr<CachedStreams> streams, const PickedColumn& column, std::vector<Pick> picks,
                std::shared_ptr<tfile::Buffer> into, ReadUse use, Reply<void> reply) {
  std::erase_if(picks, [](const Pick& pick) { return pick.size == 0; });
  std::ranges::sort(picks, {}, &Pick::from);
  const std::size_t count = count_reads(picks);
  auto read = [streams = std::move(streams), column, picks = std::move(picks), into = std::move(into), use,
               next = std::size_t{0}](std::size_t, Reply<void> told) mutable {
    const std::span<const Pick> some = read_together(std::span<const Pick>(picks).subspan(next));
    next += some.size();
    const std::uint64_t begin = some[0].from;
    std::uint64_t end = begin;
    for (const Pick& pick : some) end = std::max(end, pick.from + pick.size);
    auto copy = [some, &buffer = *into](const Slices& slices) { copy_picks(some, slices, buffer); };
    const ColumnRange range{column.stream, column.slot, column.item_size, begin, end - begin};
    read_whole(*streams, range, use, answer_with<Slices>(std::move(told), std::move(copy)));
  };
  when_all(count, kReadsAtOnce, std::move(read), std::move(reply));
}

}  // namespace tfilefs
