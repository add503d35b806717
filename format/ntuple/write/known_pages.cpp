// SPDX-License-Identifier: Apache-2.0
#include "ntuple/write/known_pages.h"

#include <algorithm>
#include <vector>

#include "ntuple/write/part_encode.h"

namespace tfile {
namespace {

// Whether the file has these bytes there. One that cannot be read has not.
bool has_bytes(const Source& file, std::uint64_t address, std::span<const std::byte> bytes) {
  std::vector<std::byte> found(bytes.size());
  return read_range(file, {address, bytes.size()}, found) && std::ranges::equal(found, bytes);
}

}  // namespace

void KnownPages::add_former(ColumnNumber column, ByteRange page) {
  if (page.size >= kSharedMin && former_.size() < kSharedMax) former_.emplace(std::pair(column, page.size), page.begin);
}

void KnownPages::add(const Part::Unit& unit) {
  if (unit.size < kSharedMin) {
    small_.emplace(identity_of(unit), unit.address);
  } else {
    remember(identity_of(unit), unit.address);
  }
}

void KnownPages::remember(const Identity& page, std::uint64_t address) {
  recent_.emplace(page, address);
  if (recent_.size() < kSharedMax / 2) return;
  older_ = std::move(recent_);
  recent_.clear();
}

// A former page that is another one is not read again.
std::uint64_t KnownPages::address_of(const Part::Unit& unit, std::span<const std::byte> stored, const Source* file) {
  const Identity page = identity_of(unit);
  for (const Pages* pages : {&small_, &recent_, &older_}) {
    if (const auto found = pages->find(page); found != pages->end()) return found->second;
  }
  const auto former = former_.find({unit.stream, unit.size});
  if (file == nullptr || former == former_.end()) return 0;
  const std::uint64_t address = former->second;
  const std::span<const std::byte> checksum = stored.last(kChecksumSize);
  const bool same = has_bytes(*file, address + unit.size, checksum) && has_bytes(*file, address, stored);
  if (same) return address;
  former_.erase(former);
  return 0;
}

void KnownPages::end_cluster() { small_.clear(); }

}  // namespace tfile
