// SPDX-License-Identifier: Apache-2.0
#include "query/iteration_space.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
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

Result<> IterationSpace::fill(const QuerySpace& space, tfile::EntryRange block, std::span<const BlockItems> items) {
  const auto entries = static_cast<std::size_t>(block.size());
  is_plain_ = space.paths.empty();
  if (is_plain_ && first_.size() == entries + 1 && entry_.size() == entries) return {};  // as the last one was
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
    TRY(const bool goes_on, expand(space, items));
    if (!goes_on) break;
  }
  drop_absent(space);
  index_entries(entries);
  return {};
}

// Goes through the next level of all paths that have one with all of its elements.
Result<bool> IterationSpace::expand(const QuerySpace& space, Inputs inputs) {
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
  TRY_VOID(expand_nodes(space, inputs, counts_));
  return true;
}

Result<> IterationSpace::expand_nodes(const QuerySpace& space, Inputs inputs, std::span<const std::uint32_t> counts) {
  const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (sum > kIterationsMax)
    return fail(ErrorKind::unsupported, "an entry has more than " + std::to_string(kIterationsMax) + " iterations");
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
