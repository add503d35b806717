// SPDX-License-Identifier: Apache-2.0
#include "tree/record/basket_table.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "bytes/endian.h"

namespace tfile {
namespace {

// The entries of slot `i` begin at entry[i] and end at the beginning of the next slot. Those of the slot being written
// end with the branch. So do those of the last existing slot, since old files may lack the former.
std::int64_t end_of_slot(const BasketArrays& arrays, std::size_t i) {
  const bool more = static_cast<std::int64_t>(i) < arrays.write_basket && i + 1 < arrays.entry.size();
  return more ? arrays.entry.at(i + 1) : arrays.entry_number;
}

std::size_t slot_count(const BasketArrays& arrays) {
  const std::size_t there = std::min(arrays.entry.size(), arrays.seek.size());
  if (arrays.write_basket < 0) return 0;
  return std::min(there, static_cast<std::size_t>(arrays.write_basket) + 1);
}

struct DiskPlace {
  std::uint64_t seek = 0;
  std::uint32_t nbytes = 0;
};

// In old files, slots that were never written may have any content, even negative numbers.
DiskPlace place_of(const BasketArrays& arrays, std::size_t i) {
  const std::int64_t seek = arrays.seek.at(i);
  const std::int64_t nbytes = i < arrays.bytes.size() ? arrays.bytes.at(i) : 0;
  if (seek <= 0) return {};
  return {static_cast<std::uint64_t>(seek), static_cast<std::uint32_t>(std::max<std::int64_t>(nbytes, 0))};
}

// For a slot with a basket in the record, whether that basket counts. The basket being filled is never on disk. Any
// other basket that is also on disk counts there, as it does for fTotBytes.
bool is_embedded(const BasketArrays& arrays, std::size_t i, const DiskPlace& place) {
  return place.seek == 0 || static_cast<std::int64_t>(i) == arrays.write_basket;
}

bool has_baskets(const BasketArrays& arrays, std::size_t slots) {
  for (std::size_t i = 0; i < slots; ++i)
    if (place_of(arrays, i).seek != 0) return true;
  return false;
}

bool ascending(const BasketArrays& arrays, std::size_t slots) {
  std::int64_t before = 0;
  for (std::size_t i = 0; i < slots; ++i) {
    if (arrays.entry.at(i) < before) return false;
    before = arrays.entry.at(i);
  }
  return slots == 0 || end_of_slot(arrays, slots - 1) >= before;
}

}  // namespace

std::int64_t BasketArrays::Numbers::at(std::size_t i) const {
  const std::byte* p = raw.data() + i * width;
  return width == 8 ? load_big<std::int64_t>(p) : load_big<std::int32_t>(p);
}

bool BasketTables::build(BasketArrays&& arrays, BranchRecord& branch) {
  BasketTable& table = branch.baskets;
  std::size_t slots = slot_count(arrays);
  // A node of a split object has no data, but counts its entries in slots that have no baskets.
  if (!branch.children.empty() && arrays.embedded.empty() && !has_baskets(arrays, slots)) slots = 0;
  if (!ascending(arrays, slots)) {
    table.seek = {0};
    table.nbytes = {0};
    table.entry = interned({0, std::max<std::int64_t>(arrays.entry_number, 0)});
    return false;
  }
  std::vector<std::int64_t> boundaries;
  boundaries.reserve(slots + 1);
  table.seek.reserve(slots);
  table.nbytes.reserve(slots);
  for (std::size_t i = 0; i < slots; ++i) {
    const std::int64_t begin = arrays.entry.at(i);
    if (end_of_slot(arrays, i) == begin) continue;
    DiskPlace place = place_of(arrays, i);
    const auto embedded = std::ranges::find(arrays.embedded, i, &EmbeddedBasket::index);
    if (embedded != arrays.embedded.end() && is_embedded(arrays, i, place)) {
      place = {};
      branch.embedded.push_back(std::move(*embedded));
      branch.embedded.back().index = static_cast<std::uint32_t>(table.seek.size());
    }
    boundaries.push_back(begin);
    table.seek.push_back(place.seek);
    table.nbytes.push_back(place.nbytes);
  }
  boundaries.push_back(std::max<std::int64_t>(slots == 0 ? arrays.entry_number : end_of_slot(arrays, slots - 1), 0));
  table.entry = interned(std::move(boundaries));
  return true;
}

std::shared_ptr<const std::vector<std::int64_t>> BasketTables::interned(std::vector<std::int64_t>&& boundaries) {
  if (last_ && *last_ == boundaries) return last_;  // neighbours mostly have the same
  const std::uint64_t hash = XXH3_64bits(boundaries.data(), boundaries.size() * sizeof(std::int64_t));
  const auto [begin, end] = known_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (*it->second == boundaries) return last_ = it->second;
  }
  last_ = std::make_shared<const std::vector<std::int64_t>>(std::move(boundaries));
  known_.emplace(hash, last_);
  return last_;
}

}  // namespace tfile
