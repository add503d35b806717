// SPDX-License-Identifier: Apache-2.0
#include "container/space.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "container/free_list.h"

namespace tfile {
namespace {

// Baskets are placed into segments of at least this size, which is what the cache of a reader fetches in one call. So a
// jump to another segment does not dominate the time of a read.
constexpr std::uint64_t kPartSegmentMin = 1 << 20;

using Segments = std::vector<ByteRange>;  // sorted, disjoint

auto first_behind(auto& segments, std::uint64_t address) {
  return std::ranges::upper_bound(segments, address, {}, &ByteRange::begin);
}

bool overlaps(const Segments& segments, ByteRange range) {
  const auto next = first_behind(segments, range.begin);
  if (next != segments.end() && next->begin < range.end()) return true;
  return next != segments.begin() && (next - 1)->end() > range.begin;
}

void insert(Segments& segments, ByteRange range) {
  if (range.size == 0) return;
  auto at = segments.insert(first_behind(segments, range.begin), range);
  if (at + 1 != segments.end() && at->end() == (at + 1)->begin) {
    at->size += (at + 1)->size;
    at = segments.erase(at + 1) - 1;
  }
  if (at != segments.begin() && (at - 1)->end() == at->begin) {
    (at - 1)->size += at->size;
    segments.erase(at);
  }
}

// Whether a record of `size` bytes fits, leaving either nothing or room for the length of a gap.
bool fits(const ByteRange& segment, std::uint64_t size) {
  return segment.size == size || segment.size >= size + kGapSizeMin;
}

}  // namespace

Space::Space(std::uint64_t end, std::vector<ByteRange> free, std::vector<ByteRange> unused)
    : end_(end), committed_end_(end), unused_(std::move(unused)), marked_(std::move(free)) {
  std::ranges::sort(unused_, {}, &ByteRange::begin);
  std::ranges::sort(marked_, {}, &ByteRange::begin);
  for (const ByteRange& segment : marked_) insert(free_, segment);
}

ByteRange Space::take_front(std::vector<ByteRange>::iterator segment, std::uint64_t size) {
  const ByteRange taken{segment->begin, size};
  std::erase_if(marked_, [&](const ByteRange& marked) {
    return marked.begin >= segment->begin && marked.begin < segment->end();
  });
  *segment = {segment->begin + size, segment->size - size};
  if (segment->size == 0) free_.erase(segment);
  return taken;
}

ByteRange Space::take_at_end(std::uint64_t size) {
  const ByteRange taken{end_, size};
  end_ += size;
  return taken;
}

ByteRange Space::take(std::uint64_t size) {
  auto best = free_.end();
  for (auto segment = free_.begin(); segment != free_.end(); ++segment) {
    if (fits(*segment, size) && (best == free_.end() || segment->size < best->size)) best = segment;
  }
  return best == free_.end() ? take_at_end(size) : take_front(best, size);
}

ByteRange Space::take_in_one_sector(std::uint64_t size, std::uint64_t inside, std::uint64_t together) {
  std::uint64_t address = end_;
  const auto crosses = [&] { return (address + inside) % kSectorSize + together > kSectorSize; };
  if (crosses()) address += kGapSizeMin;
  while (crosses()) ++address;
  insert(free_, {end_, address - end_});
  end_ = address;
  return take_at_end(size);
}

ByteRange Space::take_for_part(std::uint64_t size, bool at_end) {
  const auto goes_on = [&](const ByteRange& segment) {
    return segment.begin == part_end_ || (segment.begin > part_end_ && segment.size >= kPartSegmentMin);
  };
  auto segment = at_end ? free_.end() : std::find_if(free_.begin(), free_.end(), [&](const ByteRange& s) {
    return fits(s, size) && goes_on(s);
  });
  const ByteRange taken = segment == free_.end() ? take_at_end(size) : take_front(segment, size);
  part_end_ = taken.end();
  return taken;
}

void Space::give_back(ByteRange taken) {
  insert(free_, taken);
  // Free space at the end that was not part of the committed state is not a segment.
  const ByteRange last = free_.back();
  if (last.end() != end_ || end_ == committed_end_) return;
  end_ = std::max(last.begin, committed_end_);
  free_.pop_back();
  insert(free_, {last.begin, end_ - last.begin});
}

bool Space::is_taken(ByteRange range) const {
  if (range.begin >= committed_end_ || range.size > committed_end_ - range.begin) return false;
  return std::ranges::none_of(std::array{&free_, &unused_, &resting_, &released_},
                              [&](const Segments* segments) { return overlaps(*segments, range); });
}

bool Space::release(ByteRange record) {
  if (record.size < kGapSizeMin || !is_taken(record)) return false;
  // Not merged with its neighbours: overlaps() does not need that, and each is either forgotten or kept whole.
  released_.insert(first_behind(released_, record.begin), record);
  return true;
}

std::vector<ByteRange> Space::merged() const {
  Segments all = free_;
  for (const ByteRange& segment : resting_) insert(all, segment);
  return all;
}

std::vector<ByteRange> Space::listed() const {
  Segments all = merged();
  all.insert(all.end(), unused_.begin(), unused_.end());
  std::ranges::sort(all, {}, &ByteRange::begin);
  return all;
}

std::vector<ByteRange> Space::unmarked() const {
  const Segments all = merged();
  Segments found;
  std::set_difference(
      all.begin(), all.end(), marked_.begin(), marked_.end(), std::back_inserter(found),
      [](const ByteRange& a, const ByteRange& b) { return a.begin != b.begin ? a.begin < b.begin : a.size < b.size; });
  return found;
}

void Space::committed(std::uint64_t end) {
  free_ = merged();
  marked_ = free_;
  resting_ = std::exchange(released_, {});
  committed_end_ = end;
  part_end_ = 0;
}

}  // namespace tfile
