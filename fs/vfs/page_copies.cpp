// SPDX-License-Identifier: Apache-2.0
#include "vfs/page_copies.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tfilefs {
namespace {

// Numbers of this size are written as a whole, so that who reads them without a lock sees none that never was.
constexpr std::size_t kNumber = 4;

// Adds the places where bytes differ, as pieces of `bytes` that lie `at` in it.
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
  files_ = watched_.size();
}

void PageCopies::release(HandleId handle) {
  if (is_idle()) return;
  const Lock lock(mutex_);
  for (auto at = watched_.begin(); at != watched_.end();) {
    const auto here = at++;
    if (here->second.handles.erase(handle) == 0 || !here->second.handles.empty()) continue;
    drop_from(here->second, 0);
    watched_.erase(here);
  }
  files_ = watched_.size();
}

PageCopies::Watched* PageCopies::find(InodeId id) {
  const auto found = watched_.find(id);
  return found != watched_.end() ? &found->second : nullptr;
}

// That of `offset`, and those behind it.
void PageCopies::drop_from(Watched& watched, std::uint64_t offset) {
  const auto first = watched.pages.lower_bound(offset / kPage * kPage);
  pages_ -= static_cast<std::size_t>(std::distance(first, watched.pages.end()));
  watched.pages.erase(first, watched.pages.end());
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
  Watched* const watched = find(id);
  if (!watched) return;
  Page* page = nullptr;
  for (std::span<const std::byte> left : bytes) {
    while (!left.empty()) {
      const std::size_t within = offset % kPage, size = std::min(left.size(), kPage - within);
      if (within == 0) page = copy_at(*watched, offset);
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
  Watched* const watched = find(id);
  if (!watched || offset % kPage != 0) return {{0, bytes.size()}};
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += kPage) {
    const auto left = bytes.subspan(at, std::min(kPage, bytes.size() - at));
    const auto known = watched->pages.find(offset + at);
    if (known == watched->pages.end()) {
      pieces.push_back({at, left.size()});
      continue;
    }
    add_changes(*known->second, left, at, pieces);
    std::memcpy(known->second->data(), left.data(), left.size());
  }
  return pieces;
}

void PageCopies::note_own_write(InodeId id, std::uint64_t offset, std::span<const std::byte> bytes) {
  if (is_idle()) return;
  const Lock lock(mutex_);
  Watched* const watched = find(id);
  if (!watched) return;
  auto& pages = watched->pages;
  for (auto page = pages.lower_bound(offset / kPage * kPage); page != pages.end(); ++page) {
    const std::uint64_t begin = std::max(page->first, offset),
                        end = std::min(page->first + kPage, offset + bytes.size());
    if (begin >= end) return;
    std::memcpy(page->second->data() + (begin - page->first), bytes.data() + (begin - offset), end - begin);
  }
}

void PageCopies::note_append(InodeId id, std::uint64_t offset) {
  if (is_idle()) return;
  const Lock lock(mutex_);
  if (Watched* const watched = find(id)) drop_from(*watched, offset);
}

// Bytes that are cut off are zero when the file grows again.
void PageCopies::note_size(InodeId id, std::uint64_t size) {
  if (is_idle()) return;
  const Lock lock(mutex_);
  Watched* const watched = find(id);
  if (!watched) return;
  const auto last = watched->pages.find(size / kPage * kPage);
  if (last != watched->pages.end())
    std::fill(last->second->begin() + static_cast<std::ptrdiff_t>(size % kPage), last->second->end(), std::byte{});
  drop_from(*watched, size + kPage - 1);
}

}  // namespace tfilefs
