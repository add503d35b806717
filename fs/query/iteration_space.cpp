// SPDX-License-Identifier: Apache-2.0
#include "query/iteration_space.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

namespace tfilefs {

using Index = PathIndex::Kind;
using tfile::fail;

std::pair<std::int64_t, std::int64_t> elements_at(std::span<const BlockItems> items, const QueryPath::Level& level,
                                                  std::int64_t at) {
  if (at < 0) return {0, 0};
  if (level.offsets < 0) return {at * level.size, level.size};
  const BlockItems& column = items[static_cast<std::size_t>(level.offsets)];
  const std::int64_t place = at - column.first;
  const auto known = static_cast<std::int64_t>(column.bytes.size() / sizeof(std::int64_t));
  if (place < 0 || place + 1 >= known) return {0, 0};
  std::int64_t ends[2];
  std::memcpy(ends, column.bytes.data() + static_cast<std::size_t>(place) * sizeof(std::int64_t), sizeof ends);
  return {ends[0], std::max<std::int64_t>(0, ends[1] - ends[0])};
}

namespace {

// Lists of so many elements, one after the other, have places that are written without a look at how many each has.
constexpr std::size_t kShort = 4;

// The lists or arrays that the entries of a block have.
struct EntryLists {
  const std::byte* ends = nullptr;  // where each list begins, and behind the last one where that ends
  std::int64_t entry = 0;           // the first one
  std::uint32_t size = 0;           // of the array

  std::int64_t begin_of(std::size_t n) const {
    if (!ends) return (entry + static_cast<std::int64_t>(n)) * size;
    std::int64_t begin = 0;
    std::memcpy(&begin, ends + n * sizeof begin, sizeof begin);
    return begin;
  }
  std::uint64_t size_of(std::size_t n) const {
    return static_cast<std::uint64_t>(begin_of(n + 1)) - static_cast<std::uint64_t>(begin_of(n));
  }
};

// Nothing if lists are not there.
std::optional<EntryLists> lists_of(const QueryPath::Level& level, tfile::EntryRange block,
                                   std::span<const BlockItems> items) {
  if (level.offsets < 0) return EntryLists{nullptr, block.begin, level.size};
  const BlockItems& column = items[static_cast<std::size_t>(level.offsets)];
  const std::int64_t place = block.begin - column.first;
  const auto known = static_cast<std::int64_t>(column.bytes.size() / sizeof(std::int64_t));
  if (place < 0 || place + block.size() >= known) return std::nullopt;
  return EntryLists{column.bytes.data() + static_cast<std::size_t>(place) * sizeof(std::int64_t), block.begin, 0};
}

// Whether it is a number of each entry, an element of its list or array, or goes once through that.
bool is_simple(const QueryPath& path, std::int64_t end) {
  return path.entries >= end &&
         (path.levels.empty() || (path.levels.size() == 1 && path.levels[0].index.kind != Index::computed));
}

// The item of an entry behind all of the levels that have a fixed index, up to the first one that has another. -1:
// there is none.
std::pair<std::int64_t, std::size_t> behind_fixed(const QueryPath& path, std::int64_t entry,
                                                  std::span<const BlockItems> items) {
  std::int64_t place = entry;
  std::size_t level = 0;
  for (; level < path.levels.size() && path.levels[level].index.kind == Index::fixed; ++level) {
    const auto [begin, size] = elements_at(items, path.levels[level], place);
    place = place >= 0 && path.levels[level].index.at < size ? begin + path.levels[level].index.at : -1;
  }
  return {place, level};
}

// Whether the elements of its first list are all of its items, or each has one.
bool is_one_for_each(std::span<const QueryPath::Level> behind) {
  return std::ranges::all_of(behind, [](const QueryPath::Level& level) {
    return level.offsets < 0 && level.index.kind == Index::fixed && level.index.at < level.size;
  });
}

}  // namespace

std::optional<std::uint64_t> IterationSpace::count_of(const QuerySpace& space, std::int64_t entry,
                                                      std::span<const BlockItems> items) {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t count = kAll;
  for (const QueryPath& path : space.paths) {
    if (path.entries <= entry) return std::nullopt;
    const auto [place, level] = behind_fixed(path, entry, items);
    const bool is_listed = level < path.levels.size() && path.levels[level].index.kind == Index::each;
    if (is_listed && !is_one_for_each(std::span(path.levels).subspan(level + 1))) return std::nullopt;
    if (place < 0) count = 0;
    if (!is_listed) continue;
    count = std::min(count, static_cast<std::uint64_t>(elements_at(items, path.levels[level], place).second));
  }
  return count == kAll ? 1 : count;
}

void IterationSpace::fill_piece(const QuerySpace& space, std::int64_t entry, std::span<const BlockItems> items,
                                std::size_t from, std::size_t size, std::size_t of) {
  is_plain_ = false;
  skipped_ = from;
  whole_ = of;
  entry_.assign(size, 0);
  first_ = {0, static_cast<std::uint32_t>(size)};
  is_run_.assign(space.paths.size(), 0);
  places_.resize(space.paths.size());
  for (std::size_t i = 0; i < space.paths.size(); ++i) {
    const QueryPath& path = space.paths[i];
    const auto [place, level] = behind_fixed(path, entry, items);
    places_[i].assign(path.is_of_entry() ? 1 : size, place);
    if (level == path.levels.size() || path.levels[level].index.kind != Index::each) continue;
    const std::int64_t first = elements_at(items, path.levels[level], place).first + static_cast<std::int64_t>(from);
    std::iota(places_[i].begin(), places_[i].end(), first);
    is_run_[i] = level + 1 == path.levels.size() ? 1 : 0;
    level_of(path, level + 1, items, places_[i]);
  }
}

std::uint64_t IterationSpace::bytes() const {
  std::uint64_t bytes = (entry_.capacity() + first_.capacity() + counts_.capacity()) * sizeof(std::uint32_t);
  for (const auto& each : places_) bytes += each.capacity() * sizeof(std::int64_t);
  return bytes;
}

// Goes on through levels with a fixed index. Returns the first level that has another.
std::size_t IterationSpace::level_of(const QueryPath& path, std::size_t from, Inputs inputs,
                                     std::vector<std::int64_t>& places) const {
  for (; from < path.levels.size() && path.levels[from].index.kind == Index::fixed; ++from) {
    const QueryPath::Level& level = path.levels[from];
    for (std::int64_t& place : places) {
      const auto [begin, size] = elements_at(inputs, level, place);
      place = place >= 0 && level.index.at < size ? begin + level.index.at : -1;
    }
  }
  return from;
}

Result<> IterationSpace::fill(const QuerySpace& space, tfile::EntryRange block, std::span<const BlockItems> items,
                              std::size_t most) {
  skipped_ = whole_ = 0;
  const auto entries = static_cast<std::size_t>(block.size());
  is_plain_ = space.paths.empty();
  if (is_plain_ && first_.size() == entries + 1 && entry_.size() == entries) return {};  // as the last one was
  is_run_.assign(space.paths.size(), 0);
  if (fill_lists(space, block, items, most)) return {};
  entry_.resize(entries);
  std::iota(entry_.begin(), entry_.end(), 0u);
  places_.resize(space.paths.size());
  levels_.assign(space.paths.size(), 0);
  for (std::size_t i = 0; i < space.paths.size(); ++i) {
    places_[i].resize(entries);
    std::iota(places_[i].begin(), places_[i].end(), block.begin);
    const std::int64_t behind = std::clamp<std::int64_t>(space.paths[i].entries - block.begin, 0, block.size());
    std::fill(places_[i].begin() + behind, places_[i].end(), -1);
    levels_[i] = level_of(space.paths[i], 0, items, places_[i]);
  }
  for (bool is_first = true;; is_first = false) {
    // An entry without an element that is asked for has no iteration.
    counts_.assign(entry_.size(), std::numeric_limits<std::uint32_t>::max());
    for (std::size_t i = 0; i < space.paths.size(); ++i) {
      if (!is_first && space.paths[i].is_of_entry()) continue;
      for (std::size_t n = 0; n < counts_.size(); ++n) {
        if (places_[i][n] < 0) counts_[n] = 0;
      }
    }
    TRY(const bool goes_on, expand(space, items, most));
    if (!goes_on) break;
  }
  drop_absent(space);
  index_entries(entries);
  return {};
}

// The same of lists and arrays of the entries alone, which most expressions go through. False: there is more to it.
bool IterationSpace::fill_lists(const QuerySpace& space, tfile::EntryRange block, Inputs inputs, std::size_t most) {
  const auto fits = [&](const QueryPath& path) { return is_simple(path, block.end); };
  if (space.paths.empty() || !std::ranges::all_of(space.paths, fits)) return false;
  if (!count_elements(space, block, inputs, most)) return false;
  const auto entries = static_cast<std::size_t>(block.size());
  const std::size_t sum = repeat_entries(entries);
  is_plain_ = sum == entries && std::ranges::find(counts_, 0u) == counts_.end();
  places_.resize(space.paths.size());
  for (std::size_t i = 0; i < space.paths.size(); ++i) {
    const QueryPath& path = space.paths[i];
    places_[i].resize(path.is_of_entry() ? entries : sum);
    if (path.levels.empty())
      std::iota(places_[i].begin(), places_[i].end(), block.begin);
    else
      is_run_[i] = place_elements(path.levels[0], block, inputs, places_[i]) ? 1 : 0;
  }
  return true;
}

// How many each entry has together, into counts_. False: it is more than can be, or lists are not there, or they go
// backwards.
bool IterationSpace::count_elements(const QuerySpace& space, tfile::EntryRange block, Inputs inputs, std::size_t most) {
  const auto entries = static_cast<std::size_t>(block.size());
  const bool is_one = std::ranges::all_of(space.paths, [](const QueryPath& path) { return path.is_of_entry(); });
  counts_.assign(entries, is_one ? 1 : std::numeric_limits<std::uint32_t>::max());
  for (const QueryPath& path : space.paths) {
    if (path.levels.empty()) continue;
    const auto lists = lists_of(path.levels[0], block, inputs);
    if (!lists || lists->begin_of(0) < 0 || lists->begin_of(entries) < 0) return false;
    const PathIndex index = path.levels[0].index;
    std::uint64_t largest = 0;
    for (std::size_t n = 0; n < entries; ++n) {
      const std::uint64_t size = lists->size_of(n);
      largest = std::max(largest, size);
      const std::uint32_t kept = index.kind == Index::each ? static_cast<std::uint32_t>(size)
                                 : index.at < size         ? counts_[n]
                                                           : 0;
      counts_[n] = std::min(counts_[n], kept);
    }
    if (largest > most) return false;
  }
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}) <= most;
}

// The place of each iteration, or of each entry. True if they follow each other, as no list is longer than the others.
bool IterationSpace::place_elements(const QueryPath::Level& level, tfile::EntryRange block, Inputs inputs,
                                    std::span<std::int64_t> places) const {
  const EntryLists lists = *lists_of(level, block, inputs);
  const auto entries = static_cast<std::size_t>(block.size());
  if (level.index.kind == Index::fixed) {
    for (std::size_t n = 0; n < entries; ++n)
      places[n] = level.index.at < lists.size_of(n) ? lists.begin_of(n) + level.index.at : -1;
    return false;
  }
  if (lists.begin_of(entries) - lists.begin_of(0) == static_cast<std::int64_t>(places.size())) {
    std::iota(places.begin(), places.end(), lists.begin_of(0));
    return true;
  }
  for (std::size_t n = 0; n < entries; ++n) {
    const std::int64_t shift = lists.begin_of(n) - first_[n];
    for (std::uint32_t k = first_[n]; k < first_[n + 1]; ++k) places[k] = shift + k;
  }
  return false;
}

// The entry of each iteration, and the first iteration of each entry, of counts_. Returns how many iterations there
// are.
std::size_t IterationSpace::repeat_entries(std::size_t entries) {
  first_.resize(entries + 1);
  std::uint32_t sum = 0;
  for (std::size_t n = 0; n < entries; ++n) {
    first_[n] = sum;
    sum += counts_[n];
  }
  first_[entries] = sum;
  entry_.resize(sum + kShort);
  for (std::size_t n = 0; n < entries; ++n) {
    std::uint32_t* const to = entry_.data() + first_[n];
    std::fill_n(to, kShort, static_cast<std::uint32_t>(n));
    if (counts_[n] > kShort) std::fill_n(to + kShort, counts_[n] - kShort, static_cast<std::uint32_t>(n));
  }
  entry_.resize(sum);
  return sum;
}

// Goes through the next level of all paths that have one with all of its elements.
Result<bool> IterationSpace::expand(const QuerySpace& space, Inputs inputs, std::size_t most) {
  bool is_any = false;
  for (std::size_t i = 0; i < space.paths.size(); ++i) {
    const QueryPath& path = space.paths[i];
    if (levels_[i] == path.levels.size() || path.levels[levels_[i]].index.kind != Index::each) continue;
    is_any = true;
    for (std::size_t n = 0; n < counts_.size(); ++n) {
      const std::int64_t size = elements_at(inputs, path.levels[levels_[i]], places_[i][n]).second;
      counts_[n] = static_cast<std::uint32_t>(std::min<std::int64_t>(counts_[n], size));
    }
  }
  if (!is_any) {
    for (std::uint32_t& count : counts_) count = std::min(count, 1u);
    return false;
  }
  TRY_VOID(expand_nodes(space, inputs, most));
  return true;
}

Result<> IterationSpace::expand_nodes(const QuerySpace& space, Inputs inputs, std::size_t most) {
  const std::span<const std::uint32_t> counts = counts_;
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (sum > most) return fail(ErrorKind::unsupported, "more than " + std::to_string(most) + " iterations");
  std::vector<std::int64_t> made(sum);
  for (std::size_t i = 0; i < space.paths.size(); ++i) {
    const QueryPath& path = space.paths[i];
    if (path.is_of_entry()) continue;
    const bool goes_on = levels_[i] < path.levels.size() && path.levels[levels_[i]].index.kind == Index::each;
    std::int64_t* to = made.data();
    for (std::size_t n = 0; n < counts.size(); ++n) {
      const std::int64_t begin =
          goes_on ? elements_at(inputs, path.levels[levels_[i]], places_[i][n]).first : places_[i][n];
      for (std::uint32_t k = 0; k < counts[n]; ++k) *to++ = begin + (goes_on ? k : 0);
    }
    places_[i] = made;
    if (goes_on) levels_[i] = level_of(path, levels_[i] + 1, inputs, places_[i]);
  }
  std::vector<std::uint32_t> entry;
  entry.reserve(sum);
  for (std::size_t n = 0; n < counts.size(); ++n) entry.insert(entry.end(), counts[n], entry_[n]);
  entry_ = std::move(entry);
  return {};
}

// Iterations of which an element is not there are none.
void IterationSpace::drop_absent(const QuerySpace& space) {
  if (std::ranges::find(counts_, 0u) == counts_.end()) return;
  std::size_t kept = 0;
  for (std::size_t n = 0; n < entry_.size(); ++n) {
    if (counts_[n] == 0) continue;
    entry_[kept] = entry_[n];
    for (std::size_t i = 0; i < space.paths.size(); ++i) {
      if (!space.paths[i].is_of_entry()) places_[i][kept] = places_[i][n];
    }
    ++kept;
  }
  entry_.resize(kept);
  for (std::size_t i = 0; i < space.paths.size(); ++i) {
    if (!space.paths[i].is_of_entry()) places_[i].resize(kept);
  }
}

void IterationSpace::index_entries(std::size_t entries) {
  first_.assign(entries + 1, 0);
  for (const std::uint32_t entry : entry_) ++first_[entry + 1];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

}  // namespace tfilefs
