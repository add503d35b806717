// SPDX-License-Identifier: Apache-2.0
#include "tfile/extents.h"

#include <algorithm>
#include <limits>

#include "tfile/check.h"

namespace tfile {
namespace {

// The size of a column is computed from at most 64 bytes per item. With more items, that would overflow a file's size.
constexpr std::int64_t kItemsMax = std::numeric_limits<std::int64_t>::max() / 64;

bool is_lasting(const Error& error) { return error.kind == ErrorKind::damaged || error.kind == ErrorKind::unsupported; }

}  // namespace

std::vector<std::int64_t> Extents::items_of(std::size_t chunk) const {
  TFILE_DCHECK(chunk < chunks());
  std::vector<std::int64_t> items;
  for (const auto& begins : first) items.push_back(begins[chunk + 1] - begins[chunk]);
  return items;
}

std::uint32_t Extents::chunk_of(std::uint32_t slot, std::int64_t item) const {
  const auto& begins = first[slot];
  TFILE_DCHECK(begins.size() > 1);
  const auto place = std::upper_bound(begins.begin(), begins.end(), item) - begins.begin() - 1;
  return static_cast<std::uint32_t>(std::clamp<std::ptrdiff_t>(place, 0, std::ssize(begins) - 2));
}

void ExtentSum::add(std::span<const std::int64_t> items) {
  if (!is_open()) return;
  if (items.size() != extents_.first.size())
    return stop({ErrorKind::damaged,
                 "chunk " + std::to_string(extents_.chunks()) + " counts " + std::to_string(items.size()) +
                     " columns, its stream has " + std::to_string(extents_.first.size()),
                 -1, 0});
  for (std::size_t slot = 0; slot < items.size(); ++slot)
    if (items[slot] < 0 || items[slot] > kItemsMax - extents_.first[slot].back())
      return stop({ErrorKind::damaged,
                   "chunk " + std::to_string(extents_.chunks()) + " claims " + std::to_string(items[slot]) +
                       " items of column " + std::to_string(slot) + ", after " +
                       std::to_string(extents_.first[slot].back()),
                   -1, 0});
  for (std::size_t slot = 0; slot < items.size(); ++slot)
    extents_.first[slot].push_back(extents_.first[slot].back() + items[slot]);
}

void ExtentSum::stop(Error error) {
  if (is_open()) extents_.damage = std::move(error);
}

std::vector<std::int64_t> ExtentSum::end() const {
  std::vector<std::int64_t> end;
  for (const auto& first : extents_.first) end.push_back(first.back());
  return end;
}

Result<Extents> ExtentSum::take() {
  if (extents_.damage && !is_lasting(*extents_.damage)) return tl::unexpected<Error>(*extents_.damage);
  for (auto& first : extents_.first) first.shrink_to_fit();
  return std::move(extents_);
}

}  // namespace tfile
