// SPDX-License-Identifier: Apache-2.0
#include "view/friends/kept_bits.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "tfile/check.h"

namespace tfilefs {
namespace {

constexpr std::int64_t kWordBits = 64;
// Entries of a block, which are gone through for each read in it.
constexpr std::int64_t kBlockEntriesMax = 1 << 20;

}  // namespace

KeptBits::KeptBits(std::int64_t of, Budget::Reservation memory)
    : of_(std::max<std::int64_t>(0, of)),
      memory_(std::move(memory)),
      words_(static_cast<std::size_t>((of_ + kWordBits - 1) / kWordBits)) {}

void KeptBits::keep(tfile::EntryRange block, std::span<const std::uint64_t> bits) {
  TFILE_DCHECK(blocks_.empty() && 0 <= block.begin && block.end <= of_);
  auto word = static_cast<std::size_t>(block.begin / kWordBits);
  const std::int64_t shift = block.begin % kWordBits;
  for (const std::uint64_t some : bits) {
    words_[word] |= some << shift;
    const std::uint64_t rest = shift == 0 ? 0 : some >> (kWordBits - shift);
    ++word;
    if (rest != 0) words_[word] |= rest;
  }
}

// The next entry from this one on that is kept, or is not; of_: there is none.
std::int64_t KeptBits::next(std::int64_t from, bool kept) const {
  while (from < of_) {
    const std::uint64_t stored = words_[static_cast<std::size_t>(from / kWordBits)];
    const std::uint64_t word = (kept ? stored : ~stored) >> (from % kWordBits);
    if (word != 0) return std::min(of_, from + std::countr_zero(word));
    from = (from / kWordBits + 1) * kWordBits;
  }
  return of_;
}

void KeptBits::finish() {
  std::size_t runs = 0;
  for (std::int64_t begin = next(0, true); begin < of_;) {
    const std::int64_t end = next(begin, false);
    if (blocks_.empty() || runs == kBlockRuns || begin - blocks_.back().begin >= kBlockEntriesMax) {
      blocks_.push_back({begin, kept_});
      runs = 0;
    }
    ++runs;
    kept_ += end - begin;
    begin = next(end, true);
  }
}

std::vector<std::int64_t> KeptBits::kept_before(std::span<const std::int64_t> entries) const {
  std::vector<std::int64_t> counts;
  std::int64_t before = 0, at = 0;
  for (const std::int64_t wanted : entries) {
    const std::int64_t entry = std::clamp(wanted, at, of_);
    while (at < entry) {
      const std::int64_t bit = at % kWordBits, some = std::min(kWordBits - bit, entry - at);
      const std::uint64_t word = words_[static_cast<std::size_t>(at / kWordBits)] >> bit;
      before += std::popcount(some < kWordBits ? word & ((std::uint64_t{1} << some) - 1) : word);
      at += some;
    }
    counts.push_back(before);
  }
  return counts;
}

RunBlock KeptBits::block(std::size_t number, std::vector<EntryRun>& made) const {
  made.clear();
  const std::int64_t end = number + 1 < blocks_.size() ? blocks_[number + 1].begin : of_;
  std::int64_t before = blocks_[number].before;
  for (std::int64_t begin = blocks_[number].begin; begin < end;) {
    const std::int64_t behind = next(begin, false);
    made.push_back({before, begin, before});
    before += behind - begin;
    begin = next(behind, true);
  }
  return {made, before};
}

std::size_t KeptBits::block_of(std::int64_t matched) const {
  const auto behind = std::ranges::upper_bound(blocks_, matched, {}, &Block::before);
  return static_cast<std::size_t>(behind - blocks_.begin()) - 1;
}

std::int64_t KeptBits::friend_entry(std::int64_t entry) const {
  if (entry < 0 || entry >= kept_) return -1;
  std::vector<EntryRun> made;
  const RunBlock runs = block(block_of(entry), made);
  const auto behind = std::ranges::upper_bound(runs.runs, entry, {}, &EntryRun::before);
  return (behind - 1)->friend_entry + (entry - (behind - 1)->before);
}

}  // namespace tfilefs
