// SPDX-License-Identifier: Apache-2.0
#include "vfs/page_copies.h"

#include <algorithm>
#include <cstring>

namespace tfilefs {
namespace {

// Numbers of this size are written as a whole, so that who reads them without a lock sees none that never was.
constexpr std::size_t kNumber = 4;

// Where bytes differ, as pieces of `bytes` that lie `at` in it.
void add_changes(std::span<const std::byte> before, std::span<const std::byte> bytes, std::size_t at,
                 std::vector<PageCopies::Piece>& pieces) {
  for (std::size_t number = 0; number < bytes.size(); number += kNumber) {
    const std::size_t end = std::min(number + kNumber, bytes.size());
    std::size_t first = number, last = end;
    while (first < end && bytes[first] == before[first]) ++first;
    if (first == end) continue;
    while (bytes[last - 1] == before[last - 1]) --last;
    const bool goes_on = !pieces.empty() && pieces.back().begin + pieces.back().size == at + first;
    if (goes_on)
      pieces.back().size += last - first;
    else
      pieces.push_back({at + first, last - first});
  }
}

}  // namespace

void PageCopies::watch(InodeId id, HandleId handle) {
  const Lock lock(mutex_);
  watched_[id].handles.insert(handle);
}

void PageCopies::release(HandleId handle) {
  const Lock lock(mutex_);
  for (auto at = watched_.begin(); at != watched_.end();) {
    const auto here = at++;
    if (here->second.handles.erase(handle) == 0 || !here->second.handles.empty()) continue;
    pages_ -= here->second.pages.size();
    watched_.erase(here);
  }
}

// Made, if there is none and room for it; then of zeros.
PageCopies::Page* PageCopies::copy_at(Watched& watched, std::uint64_t offset) {
  const auto found = watched.pages.find(offset);
  if (found != watched.pages.end()) return found->second.get();
  if (pages_ >= kPagesMax) return nullptr;
  ++pages_;
  return watched.pages.emplace(offset, std::make_unique<Page>()).first->second.get();
}

void PageCopies::note_read(InodeId id, std::uint64_t offset, std::span<const std::span<const std::byte>> bytes) {
  const Lock lock(mutex_);
  const auto watched = watched_.find(id);
  if (watched == watched_.end()) return;
  Page* page = nullptr;
  for (std::span<const std::byte> left : bytes) {
    while (!left.empty()) {
      const std::size_t within = offset % kPage, size = std::min(left.size(), kPage - within);
      if (within == 0) page = copy_at(watched->second, offset);
      if (page && within == 0) page->fill(std::byte{});  // behind the end of the file
      if (page) std::memcpy(page->data() + within, left.data(), size);
      offset += size;
      left = left.subspan(size);
    }
  }
}

std::vector<PageCopies::Piece> PageCopies::note_write(InodeId id, std::uint64_t offset,
                                                      std::span<const std::byte> bytes) {
  const Lock lock(mutex_);
  const auto watched = watched_.find(id);
  if (watched == watched_.end() || offset % kPage != 0) return {{0, bytes.size()}};
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += kPage) {
    const auto left = bytes.subspan(at, std::min(kPage, bytes.size() - at));
    const auto known = watched->second.pages.find(offset + at);
    if (known == watched->second.pages.end()) {
      pieces.push_back({at, left.size()});
      continue;
    }
    add_changes(*known->second, left, at, pieces);
    std::memcpy(known->second->data(), left.data(), left.size());
  }
  return pieces;
}

}  // namespace tfilefs
